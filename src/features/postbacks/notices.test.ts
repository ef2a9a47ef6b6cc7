import assert from 'node:assert/strict'
import { after as afterAll, beforeEach, test } from 'node:test'
import {
  claimDue,
  DAY,
  fail,
  forgetPostbacks,
  createLane,
  MINUTE,
  HOUR,
  publisherOf,
  putPostback,
} from '../../../test/postback-world.ts'
import { until } from '../../../test/installation.ts'
import { MailServer } from '../../../test/mail-server.ts'
import { PUBLIC_URL, SECRET_KEY, useWorld } from '../../../test/world.ts'
import { buildWorker } from '../../worker.ts'
import { setPublisherEmail } from '../accounts/publishers.ts'
import { finishClaims } from './claims.ts'
import { laneSigns, updateLanes } from './lanes.ts'
import { createPostman } from '../../postman.ts'
import { giveUpMails, type Postman } from '../accounts/mails.ts'
import { listNotices, mailedAt as mailedAtOf, whyNotMailed } from './notices.ts'
import { TESTER } from '../../../test/tester.ts'

// Mails are due by the database's clock, and this file may run long after the first that loaded postback-world.ts.
const NOW = new Date()
const after = (ms: number) => new Date(NOW.getTime() + ms)
const before = (ms: number) => after(-ms)

let mails: MailServer
let postman: Postman
const world = useWorld('notices', async () => {
  mails = await new MailServer().open()
  postman = open(mails.url)
})
afterAll(async () => {
  await postman.close()
  await mails.close()
})
beforeEach(async () => {
  await forgetPostbacks(world.database.db)
  mails.got.length = 0
  mails.answer = () => null
})

async function createReader(email: string | null): Promise<number> {
  const { db } = world.database
  const lane = await createLane(world)
  const publisherId = await publisherOf(db, lane)
  await db.updateTable('publishers').set({ email }).where('publisher_id', '=', publisherId).execute()
  return lane
}

const open = (smtpUrl: string) => {
  const config = { ...world.config, smtpUrl, mailFrom: 'Offers <offers@example.com>' }
  return createPostman({ config, secretKey: SECRET_KEY, database: world.database }) as Postman
}
const leave = (appId: number, message: string, row: { created_at?: Date } = {}) =>
  world.database.db
    .insertInto('notices')
    .values({ app_id: appId, kind: 'postbacks_paused', message, created_at: NOW, ...row })
    .execute()
const mail = (now = NOW) => postman.send(now)
const list = (appId: number) => listNotices(world.database.db, { appId }, 100)
const mailedAt = async (appId: number) => (await list(appId)).map(mailedAtOf)

test('a notice is mailed once to the publisher, from us, and marked', async () => {
  const lane = await createReader('ann@example.org')
  await leave(lane, 'Your server is gone.')
  assert.deepEqual(await mailedAt(lane), [null])
  assert.equal(await mail(), 1)
  assert.equal(await mail(after(MINUTE)), 0)
  assert.deepEqual(await mailedAt(lane), [NOW])
  const [got, ...others] = mails.got
  assert.deepEqual([got?.from, got?.to, others.length], ['offers@example.com', ['ann@example.org'], 0])
  assert.match(got?.data ?? '', /^From: Offers <offers@example\.com>$/m)
  assert.match(got?.data ?? '', /^Subject: App: postbacks need your attention$/m)
  assert.match(got?.data ?? '', new RegExp(`Your server is gone\\.[^]*App \\(${lane}\\)[^]*${PUBLIC_URL}`))
})

test('each publisher gets its own, oldest first', async () => {
  const [ann, bob] = [await createReader('ann@example.org'), await createReader('bob@example.org')]
  await leave(ann, 'first')
  await leave(bob, 'second')
  await leave(ann, 'third')
  assert.equal(await mail(), 3)
  assert.deepEqual(
    mails.got.map(({ to, data }) => `${to.join()} ${/first|second|third/.exec(data)?.[0]}`),
    ['ann@example.org first', 'bob@example.org second', 'ann@example.org third'],
  )
})

test('a notice to a publisher without an email address stays listed, and delays no other', async () => {
  const [silent, ann] = [await createReader(null), await createReader('ann@example.org')]
  for (let i = 0; i < 25; i++) await leave(silent, 'unheard')
  await leave(ann, 'heard')
  assert.equal(await mail(), 1)
  assert.match(mails.got[0]?.data ?? '', /heard/)
  assert.deepEqual(new Set(await mailedAt(silent)), new Set([null]))
})

test('many are mailed some at a time, none twice', async () => {
  const lane = await createReader('ann@example.org')
  for (let i = 0; i < 55; i++) await leave(lane, `number ${i}.`)
  const counts = [await mail(), await mail(), await mail()]
  assert.deepEqual(counts, [50, 5, 0])
  assert.equal(new Set(mails.got.map(({ data }) => /number \d+/.exec(data)?.[0])).size, 55)
})

test('a publisher who adds an email address today is emailed the notices of the last day, and nothing older', async () => {
  const { db } = world.database
  const lane = await createReader(null)
  await leave(lane, 'last month', { created_at: before(30 * DAY) })
  await leave(lane, 'a day ago', { created_at: before(DAY) })
  await leave(lane, 'today', { created_at: before(DAY - HOUR) })
  assert.equal(await mail(), 0)
  await setPublisherEmail(db, TESTER, await publisherOf(db, lane), 'ann@example.org')
  assert.equal(await mail(after(MINUTE)), 0, 'looked for again in five minutes')
  assert.equal(await mail(after(6 * MINUTE)), 1)
  assert.match(mails.got[0]?.data ?? '', /today/)
  assert.deepEqual(await mailedAt(lane), [after(6 * MINUTE), null, null])
})

test('what was not mailed says why', async () => {
  const { db } = world.database
  const [silent, ann] = [await createReader(null), await createReader('ann@example.org')]
  await leave(silent, 'unheard')
  await leave(ann, 'old', { created_at: before(DAY) })
  await leave(ann, 'new')
  const reasons = async (appId: number, hasMailServer = true) =>
    (await list(appId)).map((notice) => whyNotMailed(notice, hasMailServer))
  assert.deepEqual(await reasons(silent), ['the publisher has no address'])
  assert.equal((await reasons(ann, false))[0], 'SMTP_URL is not set here')
  assert.equal((await reasons(ann))[0], 'waiting')
  assert.deepEqual(await giveUpMails(db, true, NOW), [
    'Gave up mailing an unknown address (notice) after 0 attempts: expired',
  ])
  mails.answer = (command) => (command.startsWith('MAIL') ? '451 not now' : null)
  await assert.rejects(mail())
  assert.deepEqual(await reasons(ann), [
    'failed 1 times (451 MAIL FROM), retrying',
    'failed after 0 attempts (expired)',
  ])
  mails.answer = () => null
  assert.equal(await mail(after(MINUTE)), 1)
  assert.equal((await reasons(ann))[0], null)
  await giveUpMails(db, true, after(DAY))
  assert.deepEqual(await reasons(silent), ['the publisher has no address'])
  const left = await db.selectFrom('mails').select('status').orderBy('status').execute()
  assert.deepEqual(left.map(({ status }) => status), ['failed', 'sent']) // prettier-ignore
})

for (const [what, answer] of [
  ['does not take the sender', (command: string) => (command.startsWith('MAIL') ? '451 not now' : null)],
  ['does not take the letter', (command: string) => (command === 'END' ? '452 full' : null)],
  ['hangs up in the middle', (command: string) => (command === 'DATA' ? 'hang up' : null)],
  ['hangs up at the end', (command: string) => (command === 'END' ? 'hang up' : null)],
] as const)
  test(`a mail server that ${what} loses nothing`, async () => {
    const lane = await createReader('ann@example.org')
    await leave(lane, 'Your server is gone.')
    mails.answer = answer
    await assert.rejects(mail())
    assert.deepEqual(await mailedAt(lane), [null])
    mails.answer = () => null
    assert.equal(await mail(after(MINUTE)), 1)
    assert.deepEqual(await mailedAt(lane), [after(MINUTE)])
    assert.equal(mails.got.length, 1)
  })

test('a mail server that is not there loses nothing', async () => {
  const lane = await createReader('ann@example.org')
  await leave(lane, 'Your server is gone.')
  const gone = await new MailServer().open()
  const absent = open(gone.url)
  await gone.close()
  await assert.rejects(absent.send(NOW))
  await absent.close()
  assert.deepEqual(await mailedAt(lane), [null])
  assert.equal(await mail(), 0) // not at once
  assert.equal(await mail(after(MINUTE)), 1)
})

test('when it fails half way, only what was taken is marked', async () => {
  const lane = await createReader('ann@example.org')
  for (const message of ['first', 'second', 'third']) await leave(lane, message)
  mails.answer = (command) => (command === 'END' && mails.got.length === 2 ? '452 full' : null)
  await assert.rejects(mail())
  assert.deepEqual(await mailedAt(lane), [null, NOW, NOW])
  mails.answer = () => null
  assert.equal(await mail(after(MINUTE)), 1)
  assert.deepEqual(
    mails.got.map(({ data }) => /first|second|third/.exec(data)?.[0]),
    ['first', 'second', 'third'],
  )
})

test('the name of an app adds no header and no reader', async () => {
  const { db } = world.database
  const lane = await createReader('ann@example.org')
  const name = 'Ünï\r\nBcc: eve@example.org\r\n\r\nbody'
  await db.updateTable('apps').set({ name }).where('app_id', '=', lane).execute()
  await leave(lane, 'Your server is gone.')
  assert.equal(await mail(), 1)
  assert.deepEqual(mails.got[0]?.to, ['ann@example.org'])
  const [head = ''] = (mails.got[0]?.data ?? '').split('\n\n')
  assert.doesNotMatch(head, /^Bcc:/im)
  assert.match(head, /^MIME-Version: 1\.0$/m)
})

test('a lane that is paused is mailed by the worker', async () => {
  const { config, database, log } = world
  const { db } = database
  const lane = await createReader('ann@example.org')
  await putPostback(db, lane)
  const claims = await claimDue(db, 1, 256, NOW)
  const gone = claims.map((one) => fail(one, { status: 410 }))
  await updateLanes(db, laneSigns(gone), NOW)
  const worker = await buildWorker({
    config: { ...config, smtpUrl: mails.url },
    secretKey: SECRET_KEY,
    database,
    log,
  })
  try {
    await until(async () => (await mailedAt(lane))[0] !== null)
  } finally {
    await worker.close()
  }
  assert.deepEqual(
    mails.got.map(({ to }) => to.join()),
    ['ann@example.org'],
  )
  assert.match(mails.got[0]?.data ?? '', /410/)
})

test('a publisher is notified of failed postbacks once a day; not of test sends, nor of ones that are retried', async () => {
  const { db } = world.database
  const lane = await createLane(world, { width: 64 })
  const giveUp = async (more: object, waitMs: number | null) => {
    await putPostback(db, lane, more)
    const claims = await claimDue(db, 1, 256, NOW)
    assert.equal(claims.length, 1)
    await finishClaims(
      db,
      claims.map((one) => ({ ...fail(one), waitMs })),
      NOW,
    )
  }
  const kinds = async () => (await list(lane)).map((one) => one.kind)
  await giveUp({}, 1_000)
  await giveUp({ scenario: 'approved' }, null)
  assert.deepEqual(await kinds(), [])
  await giveUp({}, null)
  assert.deepEqual(await kinds(), ['postbacks_failed'])
  await giveUp({}, null)
  assert.equal((await list(lane)).length, 1)
  await db.updateTable('notices').set({ created_at: new Date(Date.now() - DAY - MINUTE) }).where('app_id', '=', lane).execute() // prettier-ignore
  await giveUp({}, null)
  assert.equal((await list(lane)).length, 2)
})
