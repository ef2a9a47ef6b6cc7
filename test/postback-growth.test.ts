// What the log and the queue of postbacks cost beside a hundred thousand others: the pages of 8 kB that PostgreSQL reads.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { sql } from 'kysely'
import { briefly } from '../src/db/brief.ts'
import { listPostbacks, type PostbackFilter } from '../src/features/postbacks/postbacks.ts'
import { ROW_BY_ROW, unblockNext } from '../src/features/postbacks/queue.ts'
import { uuid7Floor } from '../src/lib/uuid7.ts'
import { type Explained, type ExplainedApp, pagesOf, startExplained, wastedRows } from './explain.ts'
import { DAY, createLane } from './postback-world.ts'
import { useWorld } from './world.ts'

const ROWS = 50_000 // in the log of each of two apps, and in the queue of one
const LIMIT = 21
const SPAN_DAYS = 50
const startMs = Date.now() - 2 * SPAN_DAYS * DAY
const at = (days: number) => new Date(startMs + days * DAY)

let old: number
let young: number
let explained: ExplainedApp
after(() => explained.close()) // before the world does
const world = useWorld('postback_growth', async () => {
  old = await createLane(world, { width: 64 })
  young = await createLane(world, { width: 64 })
  await fillLog(old, 0)
  await fillLog(young, SPAN_DAYS)
  await fillQueue(old)
  await sql`ANALYZE postbacks, postback_queue`.execute(world.database.db)
  explained = await startExplained(world)
})

/** UUIDv7 of the time `ms`, the same for the same `n`. */
const idOf = (what: string) =>
  sql`(lpad(to_hex(ms), 12, '0') || '7' || substr(md5(${what} || n), 1, 3) || '8' || substr(md5(${what} || n), 4, 15))::uuid`

/** Nearly all delivered; one in 6,000 is a reversal, one in 1,000 failed, one in 3,000 was of the test key. */
async function fillLog(appId: number, fromDay: number): Promise<void> {
  const id = idOf(`log ${appId}`)
  await sql`
    INSERT INTO postbacks (postback_id, app_id, is_test, conversion_id, sequence, status, state, created_at, settled_at, attempts, last_error)
    SELECT ${id}, ${appId}, n % 3000 = 17, ${id}, 1, CASE WHEN n % 6000 = 100 THEN 'reversed' ELSE 'approved' END,
      CASE WHEN n % 1000 = 5 THEN 'dead' ELSE 'delivered' END, to_timestamp(ms / 1000.0), to_timestamp(ms / 1000.0), 1,
      CASE WHEN n % 1000 = 5 THEN 'The server answered 500, not 2xx.' END
    FROM (SELECT n, ${at(fromDay).getTime()}::bigint + n * ${SPAN_DAYS * DAY}::bigint / ${ROWS} AS ms
      FROM generate_series(0::bigint, ${ROWS - 1}) AS n) AS times ORDER BY n`.execute(world.database.db)
}

/** Of each conversion four events: the first waits for its time, the others behind it. */
async function fillQueue(appId: number): Promise<void> {
  const { db } = world.database
  await sql`ALTER TABLE postbacks DISABLE TRIGGER queue_postbacks`.execute(db)
  await sql`
    INSERT INTO postbacks (postback_id, app_id, is_test, conversion_id, sequence, status, state, created_at)
    SELECT ${idOf(`queued ${appId}`)}, ${appId}, false, md5(${`conversion ${appId} `} || n / 4)::uuid, 1 + n % 4, 'approved', 'queued',
      to_timestamp(ms / 1000.0)
    FROM (SELECT n, ${Date.now() - DAY}::bigint + n AS ms FROM generate_series(0::bigint, ${ROWS - 1}) AS n) AS times`.execute(
    db,
  )
  await sql`
    INSERT INTO postback_queue (app_id, postback_id, conversion_id, sequence, status, is_test, state, due_at)
    SELECT app_id, postback_id, conversion_id, sequence, status, is_test, CASE WHEN sequence = 1 THEN 'later' ELSE 'behind' END,
      now() + interval '1 day'
    FROM postbacks WHERE state = 'queued'`.execute(db)
  await sql`ALTER TABLE postbacks ENABLE TRIGGER queue_postbacks`.execute(db)
}

const conversionOf = async (n: number) => {
  const { rows } = await sql<{ id: string }>`SELECT md5(${`conversion ${old} ${n}`})::uuid AS id`.execute(explained.db)
  return rows[0]?.id ?? ''
}

const scansOf = ({ nodes }: Explained) =>
  nodes.filter((node) => node['Node Type'] === 'Seq Scan' && /^postback(s|_queue)$/.test(node['Relation Name'] ?? ''))

/** The fewest pages of a few attempts: the first ones fill caches of the connection. No row is looked at in vain. */
async function costOf(isMeant: RegExp, work: (attempt: number) => Promise<unknown>): Promise<number> {
  const costs: number[] = []
  for (let i = 0; i < 3; i++) {
    const statements = (await explained.explain(() => work(i))).filter(({ text }) => isMeant.test(text))
    assert.ok(statements.length > 0, 'nothing like it ran')
    assert.deepEqual(statements.flatMap(scansOf), [], 'a whole table is read')
    assert.ok(wastedRows(statements) <= MOST_WASTED, `${wastedRows(statements)} rows are looked at in vain`)
    costs.push(pagesOf(statements))
  }
  return Math.min(...costs)
}

const MOST_WASTED = 100 // an hour at the end of a time: ids are not quite in the order of time
const MOST = 600 // a page of the log, each line with its place in the queue

for (const [what, filter] of Object.entries({
  'the newest': {},
  'those up to a day': { to: at(20) },
  'those from a day': { from: at(20) },
  'those of some days': { from: at(20), to: at(40) },
  'those before one': { before: uuid7Floor(at(30).getTime()) },
  'a status that few have': { status: 'reversed' },
  'a status that few have, up to a day': { status: 'reversed', to: at(20) },
  'a status that none has': { status: 'rejected' },
  'those delivered up to a day': { state: 'delivered', to: at(20) },
  'those that failed': { state: 'dead' },
  'those that failed, of some days': { state: 'dead', from: at(10), to: at(45) },
  'those queued': { state: 'queued' },
  'those being sent': { state: 'sending' },
} satisfies Record<string, PostbackFilter>))
  test(`the log of an app shows ${what}, by index`, async () => {
    const keys = [{}, { isTest: false }, ...('state' in filter ? [] : [{ isTest: true }])] // few in a queue have no index
    for (const key of keys)
      for (const appId of [old, young]) {
        const list = () => listPostbacks(explained.db, { appId, ...key, ...filter }, LIMIT)
        const pages = await costOf(/postbacks/, list)
        assert.ok(pages < MOST, `${JSON.stringify({ ...key, appId, ...filter })} reads ${pages} pages`)
      }
  })

test('what was behind a postback goes on, by index, however much waits', async () => {
  const work = async (attempt: number) => {
    const ids = await Promise.all(Array.from({ length: 50 }, (_, i) => conversionOf(attempt * 50 + i)))
    const freed = () => explained.db.selectFrom('postback_queue').select('sequence').where('conversion_id', 'in', ids).where('state', '=', 'ready').execute() // prettier-ignore
    assert.equal((await freed()).length, 0)
    await briefly(explained.db, (trx) => unblockNext(trx, ids), ROW_BY_ROW)
    assert.deepEqual(new Set((await freed()).map((row) => row.sequence)), new Set([2]))
    assert.equal((await freed()).length, 50)
  }
  const pages = await costOf(/postbacks-unblock/, work)
  assert.ok(pages < 50 * 40, `50 conversions read ${pages} pages`)
})
