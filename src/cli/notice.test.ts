// What an operator sees of postbacks that go wrong: in the list of apps, and in the notices.
import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import { useOperator } from '../../test/operator.ts'
import { DAY, putPostbacks, setLane, before as ago } from '../../test/postback-world.ts'
import type { Db } from '../db/open.ts'

const { home, world } = useOperator({ worker: false }) // nothing is sent or mailed meanwhile
let well: number
let paused: number
let without: number

before(async () => {
  await home.json('publisher', 'create', '--name', 'P')
  well = await createApp('Well')
  paused = await createApp('Paused')
  without = await createApp('Without')
  const url = 'https://example.com/?u={user_id}&t={transaction_id}&s={status}&x={is_test}'
  await Promise.all([well, paused].map((id) => home.json('app', 'set-postback', String(id), '--url', url)))
  await change(async (db) => {
    await setLane(db, paused, { paused_at: new Date(), pause_reason: 'failing' })
    await putPostbacks(db, paused, 12)
    await putPostbacks(db, paused, 3, { state: 'dead' })
    const notice = { kind: 'postbacks_paused', message: 'Nothing more is sent.' }
    await db
      .insertInto('notices')
      .values([
        { app_id: paused, ...notice, created_at: ago(9 * DAY) },
        { app_id: well, ...notice },
        { app_id: paused, ...notice },
      ])
      .execute()
    await db
      .updateTable('mails')
      .set({ status: 'sent', settled_at: ago(9 * DAY) })
      .where('about', '=', '1')
      .execute()
  })
})

async function createApp(name: string): Promise<number> {
  return (await home.json<{ app_id: number }>('app', 'create', '--publisher', 'P', '--name', name)).app_id
}

const change = (work: (db: Db) => Promise<void>) => work(world.database.db)

test('the list of apps shows the postback health of each', async () => {
  const { out } = await home.run(['app', 'list', '--wide'])
  assert.match(out, /^app_id .* postbacks +api_key +test_api_key +rate_limit$/m)
  assert.match(out, /P +Well +valid +valid +ok +pk_live_/m)
  assert.match(out, /P +Paused +valid +valid +paused \(failing\), 12 queued, 3 failed +pk_live_/m)
  assert.match(out, /P +Without +valid +valid +none +pk_live_/m)
  type Key = { api_key: string }
  const apps = await home.json<{ app_id: number; live: Key; test: Key; postbacks: { queued: number } | null }[]>('app', 'list') // prettier-ignore
  for (const { live, test: other } of apps)
    assert.match(`${live.api_key} ${other.api_key}`, /^pk_live_\w+ pk_test_\w+$/)
  assert.deepEqual(
    apps.map((app) => [app.app_id, app.postbacks?.queued]),
    [[well, 0], [paused, 12], [without, undefined]], // prettier-ignore
  )
})

test('an app whose postback URL was removed shows what it still has queued', async () => {
  const id = await createApp('Removed')
  await home.json('app', 'set-postback', String(id), '--url', 'https://example.com/')
  await home.json('app', 'set-postback', String(id), '--remove', '--yes')
  await change(async (db) => void (await putPostbacks(db, id, 2)))
  assert.match((await home.run(['app', 'list'])).out, /P +Removed +valid +valid +none, 2 queued /m)
})

test('notices are listed newest first, of all apps or one, with why one was not mailed', async () => {
  type Shown = { notice_id: number; app_id: number; app: string; kind: string; mailed_at: string | null; not_mailed: string | null } // prettier-ignore
  const all = await home.json<Shown[]>('notice', 'list')
  const whyNot = 'the publisher has no address'
  assert.deepEqual(
    all.map(({ app, mailed_at, not_mailed }) => [app, mailed_at === null, not_mailed]),
    [['Paused', true, whyNot], ['Well', true, whyNot], ['Paused', false, null]], // prettier-ignore
  )
  const ids = all.map((one) => one.notice_id)
  const ofOne = await home.json<Shown[]>('notice', 'list', '--app', String(paused), '--before', String(ids[0]))
  assert.deepEqual(
    ofOne.map((one) => one.notice_id),
    [ids[2]],
  )
  const { out } = await home.run(['notice', 'list', '--limit', '1', '--wide'])
  assert.match(
    out,
    /^\d+ +\S+Z +Paused +Nothing more is sent\. +the publisher has no address +\d+ +postbacks_paused +-$/m,
  )
  assert.match(out, new RegExp(`There may be more: add --before ${ids[0]}`))
  assert.equal((await home.run(['notice', 'list', '--app', String(without)])).out, 'No notices yet.\n')
  await home.json('publisher', 'set-email', '1', 'ann@example.org')
  assert.match((await home.run(['notice', 'list', '--wide'])).out, /SMTP_URL is not set here/)
})

test('test postbacks to an app that cannot get any are refused with a sentence', async () => {
  for (const [id, sentence] of [
    [String(without), /no postback URL yet/],
    [String(paused), /are paused/],
    ['999999', /There is no app 999999/],
  ] as const) {
    const { status, err } = await home.run(['postback', 'test', id])
    assert.equal(status, 1)
    assert.match(err, sentence)
    assert.doesNotMatch(err, /Unexpected error|    at /)
  }
})
