// Test sends and postback settings from the command line, with a server and its worker running beside.
import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { type Credentials, useOperator } from '../../test/operator.ts'
import { after as later, HOUR, readLane, setLane } from '../../test/postback-world.ts'
import { answer, type Receiver, startReceiver } from '../../test/receiver.ts'
import type { Db } from '../db/open.ts'
import { verifyMessage } from '../features/postbacks/signing.ts'

const { home, world } = useOperator({ env: { POSTBACK_ALLOW: '127.0.0.0/8' } })
let app: { app_id: number; live: Credentials; test: Credentials }
let receiver: Receiver
/** The secret that the receiver checks signatures with. */
let secret = ''

before(async () => {
  receiver = await startReceiver((socket, request) => {
    const headers = Object.fromEntries(
      request.head
        .split('\r\n')
        .slice(1)
        .map((line) => line.split(': ', 2) as [string, string]),
    )
    const isOurs = verifyMessage([secret], headers, request.body, Date.now() / 1000) === 'ok'
    answer(isOurs ? 200 : 401)(socket, request)
  })
  await home.json('publisher', 'create', '--name', 'P')
  app = await home.json('app', 'create', '--publisher', 'P', '--name', 'App')
  const set = ['--method', 'POST', '--url', `http://127.0.0.1:${receiver.port}/`]
  const { status, err } = await home.run(['app', 'set-postback', String(app.app_id), ...set])
  assert.equal(status, 0, err)
})
after(() => receiver.close())

const withDb = <T>(work: (db: Db) => Promise<T>) => work(world.database.db)

type Shown = { result: string; results: { scenario: string; result: string; postbacks: { is_test: boolean }[] }[] }

async function runTests(...options: string[]): Promise<{ status: number | null; shown: Shown }> {
  const { status, out, err } = await home.run(['postback', 'test', String(app.app_id), '--json', ...options])
  assert.equal(err, '')
  return { status, shown: JSON.parse(out) as Shown }
}

test('test sends are signed with the secret of the key that is asked for: the live one, or with --test the test one', async () => {
  for (const [options, its] of [
    [['--test'], app.test.signing_secret],
    [[], app.live.signing_secret],
  ] as const) {
    secret = its
    const passed = await runTests(...options)
    assert.deepEqual([passed.status, passed.shown.result], [0, 'pass'], JSON.stringify(passed.shown))
    assert.equal(passed.shown.results.length, 6)
  }
  secret = app.test.signing_secret
  const refused = await runTests('--only', 'approved')
  assert.deepEqual([refused.status, refused.shown.result], [1, 'fail'], 'the live secret is another one')
  const table = await home.run(['postback', 'test', String(app.app_id), '--only', 'approved', '--test'])
  assert.match(table.out, /^approved +pass +Answered 200\./m)
})

test('test sends go through at once while the circuit is open, and the lane stays as it is', async () => {
  secret = app.test.signing_secret
  const openUntil = later(HOUR, new Date())
  await withDb((db) => setLane(db, app.app_id, { failures: 9, failing_since: new Date(), open_until: openUntil }))
  assert.equal((await runTests('--test')).shown.result, 'pass')
  const lane = await withDb((db) => readLane(db, app.app_id))
  assert.deepEqual([lane.failures, lane.open_until], [9, openUntil])
})

test('changing another setting does not lift what an operator paused; --resume does', async () => {
  const id = String(app.app_id)
  await withDb((db) => setLane(db, app.app_id, { paused_at: new Date(), pause_reason: 'operator' }))
  const set = (...options: string[]) => home.run(['app', 'set-postback', id, ...options])
  assert.equal((await set('--timeout', '5s')).status, 0)
  assert.equal((await withDb((db) => readLane(db, app.app_id))).pause_reason, 'operator')
  assert.equal((await set('--resume')).status, 0)
  assert.equal((await withDb((db) => readLane(db, app.app_id))).pause_reason, null)
})

test('a receiver written for another network is set by a preset and its secret, or by a dialect in a file', async () => {
  const { app_id } = await home.json<{ app_id: number }>('app', 'create', '--publisher', 'P', '--name', 'Old site')
  const id = String(app_id)
  const [secret, dialect, wrong] = ['secret.txt', 'dialect.json', 'wrong.json'].map((name) => join(home.folder, name)) as [string, string, string] // prettier-ignore
  writeFileSync(secret, 'of the receiver\n')
  const url = 'https://example.com/postback.php?site=3'
  const set = await home.run(['app', 'set-postback', id, '--preset', 'wannads', '--url', url, '--receiver-secret', secret]) // prettier-ignore
  assert.equal(set.status, 0, set.err)
  assert.match(set.out, /postback\.php\?site=3&subId=user-1&transId=[\w-]+&.*&status=1&.*&signature=[0-9a-f]{32}\b/)
  assert.match(set.out, /Warning: MD5 is a weak signature/)
  type Shown = { postback: { success: string; negative_reversals: boolean; has_receiver_secret: boolean; dialect: { answers: string[] } } } // prettier-ignore
  const shown = await home.json<Shown>('app', 'show', id)
  assert.ok(!`${set.out}${JSON.stringify(shown)}`.includes('of the receiver'))
  const { success, negative_reversals, has_receiver_secret, dialect: saved } = shown.postback
  assert.deepEqual([success, negative_reversals, has_receiver_secret, saved.answers], ['body', false, true, ['OK', 'DUP']]) // prettier-ignore
  writeFileSync(dialect, JSON.stringify({ ...saved, answers: ['YES'] }))
  writeFileSync(wrong, JSON.stringify({ answers: 'YES', signatures: null }))
  assert.equal((await home.run(['app', 'set-postback', id, '--dialect', dialect])).status, 0)
  assert.deepEqual((await home.json<Shown>('app', 'show', id)).postback.dialect.answers, ['YES'])
  const refused = await home.run(['app', 'set-postback', id, '--dialect', wrong])
  assert.match(
    refused.err,
    /--dialect: signatures is not a field of a dialect: check the spelling\.\n--dialect: answers must be a list/,
  )
  const none = await home.run(['app', 'set-postback', id, '--receiver-secret', join(home.folder, 'nothing')])
  assert.match(none.err, /There is no file/)
})
