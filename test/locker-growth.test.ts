// Costs of lockers with a long past: the pages of 8 kB that PostgreSQL reads for each request grow with none of it.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { createLocker, findLocker, listLockers } from '../src/features/lockers/lockers.ts'
import { forgetOldUnlocks } from '../src/features/lockers/old-unlocks.ts'
import { listReported, reportLocker } from '../src/features/lockers/reports.ts'
import type { LockerBoot, LockerState } from '../src/features/lockers/schema.ts'
import type { IssuedCredentials } from '../src/features/apps/keys.ts'
import { run } from './crowd.ts'
import { assertBelow, type CostArguments, type ExplainedApp, readCost, startExplained } from './explain.ts'
import { TESTER } from './tester.ts'
import { BROWSER, useWorld } from './world.ts'

const UNLOCKS = 20_000 // with a million, no request reads 10 pages more
const LOCKERS = UNLOCKS / 10
const KEEP_DAYS = 90

let content = 0
let link = { lockerId: 0, slug: '' }
let appId = 0
let live: IssuedCredentials
let offerId = 0
let explained: ExplainedApp
after(() => explained.close()) // before the world does
const world = useWorld('locker_growth', fill)

/** A locker with many visitors, all of whom unlocked it, and many other lockers with some. */
async function fill(): Promise<void> {
  const { db, pool } = world.database
  const app = await world.createApp()
  ;({ appId, live } = app)
  ;[offerId = 0] = await world.createOffers({})
  const create = (more: object) => createLocker(db, TESTER, world.config, appId, { name: 'Locker', unlocked_minutes: 525_600, ...more }) // prettier-ignore
  content = await create({})
  const lockerId = await create({ link: { target_url: 'https://files.example.com/' }, password: 'open sesame' })
  link = { lockerId, slug: (await findLocker(db, { lockerId }))?.slug ?? '' }
  const other = (await world.createApp()).appId
  await run(
    pool,
    `INSERT INTO lockers (app_id, kind, slug, settings) SELECT ${other}, 'link', 'other-' || n,
       '{"name": "Other", "link": {"target_url": "https://x.example/"}}' FROM generate_series(1, ${LOCKERS}) n`,
    'ALTER TABLE locker_unlocks DISABLE TRIGGER USER',
    `INSERT INTO locker_unlocks (unlock_id, locker_id, is_test, visitor_id, unlocked_at, expires_at)
       SELECT ('01990000-0000-7000-8000-' || lpad(to_hex(n), 12, '0'))::uuid, CASE WHEN n % 2 = 0 THEN ${content} ELSE ${lockerId} + 1 + n % ${LOCKERS} END,
         false, md5(n::text), at, at + interval '1 day'
       FROM (SELECT n, now() - n * interval '80 days' / ${UNLOCKS} AS at FROM generate_series(1, ${UNLOCKS}) n) AS times`,
    'ALTER TABLE locker_unlocks ENABLE TRIGGER USER',
    `INSERT INTO locker_unlock_conversions SELECT gen_random_uuid(), unlock_id FROM locker_unlocks`,
    `INSERT INTO locker_proofs (proof_id, unlock_id, expires_at, redeemed_at)
       SELECT gen_random_uuid(), unlock_id, unlocked_at + interval '10 minutes', unlocked_at FROM locker_unlocks`,
    `INSERT INTO locker_reports (locker_id, reason, details, created_at, closed_at)
       SELECT ${lockerId}, 'scam', '', unlocked_at, unlocked_at FROM locker_unlocks`,
    `INSERT INTO locker_wrong_passwords SELECT (now() AT TIME ZONE 'UTC')::date, ${lockerId}, 'network-' || n, 1 FROM generate_series(1, ${UNLOCKS}) n`,
  )
  await pool.query('VACUUM ANALYZE')
  explained = await startExplained(world)
}

async function post<T>(
  url: string,
  payload: object,
  headers: Record<string, string> = {},
  remoteAddress = '127.0.0.1',
) {
  // prettier-ignore
  const answer = await explained.app.server.inject({ method: 'POST', url, payload, remoteAddress, headers: { 'user-agent': BROWSER, ...headers } }) // prettier-ignore
  return (JSON.parse(answer.body) as { data: T }).data
}

const visit = (lockerId: number, more: object = {}) => post<LockerState>(`/locker/v1/lockers/${lockerId}/visits`, more)

async function costs(most: number, what: string, ...of: CostArguments): Promise<void> {
  assertBelow(most, what, await readCost(explained, ...of))
}

test('what visitors and publishers ask costs the same after many unlocks', async () => {
  await costs(60, 'a first visit', () => visit(content))
  const { visitor, key, offers } = await visit(content)
  const started = offers.find(({ offer_id }) => offer_id === offerId)?.link ?? ''
  await world.confirm(offerId, (await world.follow(started)).clickId)
  await costs(100, 'a visit that is unlocked', () => visit(content, { visitor, key }))
  const keys = { 'x-api-key': live.api_key, 'x-api-secret': live.api_secret }
  await costs(100, 'a proof', async () => {
    const { proof } = await visit(content, { visitor, key })
    const { redeemed } = await post<{ redeemed: boolean }>(`/v1/lockers/${content}/redeem`, { proof }, keys)
    assert.equal(redeemed, true)
  })
  let pass = ''
  await costs(30, 'the page of a link', async () => {
    const { body } = await explained.app.server.inject({ url: `/l/${link.slug}`, headers: { 'user-agent': BROWSER } })
    const boot = JSON.parse(/id="boot">(.*?)<\/script>/.exec(body)?.[1] ?? 'null') as LockerBoot | null
    assert.equal(boot?.needsPassword, true)
    pass = boot?.pass ?? ''
  })
  await costs(60, 'a wrong password', (attempt) =>
    post(`/l/${link.slug}/password`, { password: 'x', pass }, {}, `2001:db8:0:${attempt}::1`),
  )
  await costs(20, 'the list of an app', () => listLockers(explained.db, world.config, { appId }, 20))
})

test('what the operator and the worker ask costs the same after many reports and unlocks', async () => {
  const reported = (await findLocker(world.database.db, { lockerId: link.lockerId }))!
  await costs(30, 'a report', () => reportLocker(explained.db, reported, { reason: 'scam' }))
  await costs(60, 'the list of reported links', () => listReported(explained.db, { limit: 50 }))
  await costs(30, 'deleting where nothing is old', () => forgetOldUnlocks(explained.db, new Date(), KEEP_DAYS))
})
