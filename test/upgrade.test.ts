// Databases of earlier versions, brought up to date by the command: what was in them is there, and works.
import assert from 'node:assert/strict'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before, test } from 'node:test'
import { hashTerms } from '../src/features/accounts/sign-up/terms-hash.ts'
import { verifyMessage } from '../src/features/postbacks/signing.ts'
import { uuid7 } from '../src/lib/uuid7.ts'
import { Installation, until } from './installation.ts'
import { type OldApp, OldDatabase, type Row } from './old-database.ts'
import { databaseUrl } from './worker-world.ts'
import { SECRET_KEY } from './world.ts'

const program = new Installation()
const opened: OldDatabase[] = []
const received: IncomingMessage[] = []
const receiver = createServer((request, response) => {
  received.push(request)
  response.end('OK')
})
before(() => new Promise<void>((done) => receiver.listen(0, '127.0.0.1', done)))
after(async () => {
  await program.remove() // and its servers
  for (const old of opened) await old.close()
  receiver.closeAllConnections()
  receiver.close()
})

const receiverUrl = () => `http://127.0.0.1:${(receiver.address() as AddressInfo).port}`
const templateUrl = () => `${receiverUrl()}/postback?user={user_id}&status={status}&reward={reward}&id={transaction_id}`

async function open(last: string): Promise<OldDatabase> {
  const old = await OldDatabase.open(last)
  opened.push(old)
  return old
}

const envOf = ({ name }: OldDatabase) => ({
  DATABASE_URL: databaseUrl(name, 'program'),
  SECRET_KEY,
  POSTBACK_ALLOW: '127.0.0.0/8',
})

async function run<T>(old: OldDatabase, ...args: string[]): Promise<T> {
  const { status, out, err } = await program.run([...args, '--json'], envOf(old))
  assert.equal(status, 0, err)
  return JSON.parse(out) as T
}

/** Stored elsewhere now: in the postback settings, with each key, and in the open calls. */
const GONE = ['postback_url', 'secret_leaked_at', 'secret_leaked_origin', 'next_attempt_at']

/** What an upgrade adds: the rule of a signal that is new. */
const isAdded = (table: string, row: Row) => table === 'fraud_rules' && row['signal'] === 'claimed_country'

/** Every row that was there is there, with all it had but for these columns, and there are no more. */
function assertKept(earlier: Map<string, Row[]>, now: Map<string, Row[]>, gone: readonly string[] = []): void {
  for (const [table, rows] of earlier) {
    if (table === 'schema_migrations') continue
    const names = Object.keys(rows[0] ?? {}).filter((name) => !gone.includes(name))
    const textsOf = (some: Row[] = []) => some.map((row) => JSON.stringify(names.map((name) => row[name]))).toSorted()
    assert.deepEqual(textsOf(now.get(table)?.filter((row) => !isAdded(table, row))), textsOf(rows), table)
  }
}

/** The next request to the publisher's server: its method, its parameters, and whether this app's secret signed it. */
async function nextRequest(count: number, { signingSecret }: OldApp) {
  await until(() => received.length > count)
  const { method, url = '', headers } = received[count] as IncomingMessage
  const verdict = verifyMessage([signingSecret], headers, `${receiverUrl()}${url}`, Date.now() / 1_000)
  const { id, ...parameters } = Object.fromEntries(new URL(url, receiverUrl()).searchParams)
  return { method, verdict, isItsId: id === headers['webhook-id'], parameters }
}

test('from the first version: the URL an app had is its postback settings, and nothing else changes', async () => {
  const old = await open('0001')
  const leak = { secret_leaked_at: new Date('2026-01-02T03:04:05Z'), secret_leaked_origin: 'https://shop.example' }
  const { withPostbacks, withoutPostbacks, offerId } = await old.fill((publisher_id) =>
    old.insertApp({ publisher_id, name: 'Told', postback_url: templateUrl(), blocked_keywords: ['dice'], ...leak }),
  )
  const earlier = await old.readAll()
  const refused = await program.run(['app', 'list'], envOf(old))
  assert.equal(refused.status, 1)
  assert.match(refused.err, /Run: npx offerdeck migrate/)
  assert.deepEqual(await run(old, 'migrate'), { applied: old.missing })

  assertKept(earlier, await old.readAll(), GONE)
  const settings = await old.query('SELECT app_id, method, url, events, timeout_ms, success FROM postback_settings')
  const plain = { method: 'GET', events: ['approved', 'reversed'], timeout_ms: 15_000, success: '2xx' }
  assert.deepEqual(settings, [{ app_id: withPostbacks.app_id, url: templateUrl(), ...plain }])
  const leaks = await old.query(
    'SELECT app_id, secret_leaked_at, secret_leaked_origin FROM credentials WHERE secret_leaked_at IS NOT NULL',
  )
  assert.deepEqual(leaks, [{ app_id: withPostbacks.app_id, ...leak }])
  const lanes = await old.query('SELECT app_id, width, failures, open_until, paused_at FROM postback_lanes')
  assert.deepEqual(lanes, [{ app_id: withPostbacks.app_id, width: 4, failures: 0, open_until: null, paused_at: null }])
  const apps = await run<{ app_id: number; name: string; live: { api_key: string } }[]>(old, 'app', 'list')
  assert.deepEqual(
    apps.map(({ app_id, name, live }) => [app_id, name, live.api_key]),
    [
      [withPostbacks.app_id, 'Told', withPostbacks.apiKey],
      [withoutPostbacks.app_id, 'Without postbacks', withoutPostbacks.apiKey],
    ],
  )

  // Its credentials are valid, its offer is shown and can be completed, and the postback goes where it went before.
  await run(old, 'app', 'trust', String(withPostbacks.app_id), '--all', '--yes')
  const { url } = await program.serve(envOf(old))
  const headers = {
    'x-api-key': withPostbacks.apiKey,
    'x-api-secret': withPostbacks.apiSecret,
    'content-type': 'application/json',
  }
  const listed = await fetch(`${url}/v1/offers?userId=u`, { headers })
  const { data } = (await listed.json()) as { data: { offers: { offer_id: number }[] } }
  assert.deepEqual(data.offers.map((offer) => offer.offer_id), [offerId]) // prettier-ignore
  const count = received.length
  const body = JSON.stringify({ userId: 'u', offerId })
  assert.equal((await fetch(`${url}/v1/conversions`, { method: 'POST', headers, body })).status, 201)
  assert.deepEqual(await nextRequest(count, withPostbacks), {
    method: 'GET',
    verdict: 'ok',
    isItsId: true,
    parameters: { user: 'u', status: 'approved', reward: '150' },
  })
})

test('from the version before postbacks: conversions and their history are kept, and only new events are sent', async () => {
  const old = await open('0002')
  const { withPostbacks, publisherId, advertiserId, offerId, goalId } = await old.fill((publisher_id) =>
    old.insertApp({ publisher_id, name: 'Told', postback_url: templateUrl() }),
  )
  const at = new Date()
  const [conversion_id, event_id] = [uuid7(at.getTime()), uuid7(at.getTime())]
  const parties = {
    app_id: withPostbacks.app_id,
    publisher_id: publisherId,
    advertiser_id: advertiserId,
    offer_id: offerId,
  }
  const worth = { payout_micros: 1_500_000, revenue_micros: 2_000_000, currency: 'Coins', rate_micros: 100_000_000 }
  const whose = { user_id: 'u', is_test: false, is_repeatable: false, goal_id: goalId, source: 'advertiser' }
  const move = { status: 'approved', sequence: 1, event_id, actor: 'advertiser', created_at: at, approved_at: at }
  await old.insert('conversions', { conversion_id, ...parties, ...whose, ...worth, ...move })
  await old.query(
    `INSERT INTO ledger_entries (posting_id, kind, account, party_id, amount_micros, conversion_id, created_at)
    VALUES ($1, 'conversion', 'advertiser_receivable', $3, 2000000, $2, $5),
      ($1, 'conversion', 'publisher_payable', $4, -1500000, $2, $5), ($1, 'conversion', 'network_margin', 0, -500000, $2, $5)`,
    [event_id, conversion_id, advertiserId, publisherId, at],
  )
  const earlier = await old.readAll()
  assert.equal(earlier.get('conversion_events')?.length, 1)
  assert.deepEqual(await run(old, 'migrate'), { applied: old.missing })
  assertKept(earlier, await old.readAll(), GONE)

  const count = received.length
  await program.serve(envOf(old))
  await run(old, 'conversion', 'reverse', conversion_id, '--yes')
  assert.deepEqual(await nextRequest(count, withPostbacks), {
    method: 'GET',
    verdict: 'ok',
    isItsId: true,
    parameters: { user: 'u', status: 'reversed', reward: '-150' },
  })
  const postbacks = await old.query('SELECT conversion_id, sequence, status FROM postbacks')
  assert.deepEqual(postbacks, [{ conversion_id, sequence: 2, status: 'reversed' }])
})

test('from the version before hashes of terms: what was accepted is what the audit log says of that time', async () => {
  const old = await open('0198')
  const on = (day: number) => new Date(`2026-01-0${day}T00:00:00Z`)
  const [fair, linked] = [
    { url: null, text: 'Be fair – “always”.\n' },
    { url: 'https://example.com/terms', text: '' },
  ]
  const unfair = { url: null, text: 'Be unfair.' }
  const setTerms = (day: number, after: object | null) =>
    old.insert('audit_log', {
      created_at: on(day),
      who: 'olga@example.com',
      action: 'sign_up.set',
      subject: 'network',
      details: JSON.stringify({ terms: { before: null, after } }),
    })
  await setTerms(1, { version: '1', ...fair })
  await setTerms(3, { version: '2', ...linked })
  await setTerms(5, null)
  await setTerms(6, { version: '1', ...unfair })
  const { publisher_id } = await old.insert('publishers', { name: 'Publisher' })
  const person = { name: 'Ada', email: 'ada@example.com', role: 'publisher_owner', publisher_id }
  const accepted_by = (await old.insert('people', person))['id']
  const { publisher_id: later } = await old.insert('publishers', { name: 'Later' })
  for (const accepted of [
    { publisher_id, version: '1', accepted_at: on(2) },
    { publisher_id, version: '2', accepted_at: on(4) },
    { publisher_id, version: 'unknown', accepted_at: on(4) },
    { publisher_id: later, version: '1', accepted_at: on(7) },
  ])
    await old.insert('accepted_service_terms', { ...accepted, accepted_by })
  const form = { name: 'Bo', email: 'bo@example.com', password_hash: 'x', company: 'Bo', website: 'x', answers: '[]' }
  for (const terms_version of ['2', null])
    await old.insert('applications', { ...form, terms_version, created_at: on(4) })
  assert.deepEqual(await run(old, 'migrate'), { applied: old.missing })
  const accepted = await old.query('SELECT terms_hash FROM accepted_service_terms ORDER BY publisher_id, version')
  assert.deepEqual(accepted.map((row) => row['terms_hash']), [hashTerms(fair), hashTerms(linked), null, hashTerms(unfair)]) // prettier-ignore
  const applied = await old.query('SELECT terms_hash FROM applications ORDER BY application_id')
  assert.deepEqual(applied.map((row) => row['terms_hash']), [hashTerms(linked), null]) // prettier-ignore
})
