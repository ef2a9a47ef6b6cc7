// Figure 7: new conversions with their history and ledger, on disk before the answer, over what pgbench does in the same
// PostgreSQL: plain rows, and payments of its own kind.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type pg from 'pg'
import { checkLedger, type LedgerProblem } from '../src/features/ledger/check.ts'
import { type Catalogue, FOLDER, prepareCatalogue, type Say, withCopy } from './data.ts'
import { preparePgbench, preparePlainTable, prepareTpcb, runPgbench } from './pgbench.ts'
import { holdPostgres, type Postgres, runLong } from './postgres.ts'
import { type Comparison, type Plan, takeTurns } from './rounds.ts'
import { startOfferdeck } from './servers.ts'
import { CONNECTIONS, type Load, runLap } from './wrk.ts'

const OFFERS = 100_000
const REPORTED = 100
const CROWD = 128

type Status = 'pending' | 'approved'

/** What becomes of reports, approved at once are those of trusted offers; a crowd comes on more connections. */
const CASES = {
  pending: { status: 'pending', connections: CONNECTIONS, over: 'insert' },
  payment: { status: 'pending', connections: CONNECTIONS, over: 'tpcb' },
  crowd: { status: 'pending', connections: CROWD, over: 'insert' },
  approved: { status: 'approved', connections: CONNECTIONS, over: 'insert' },
} as const
type Case = keyof typeof CASES

export type ConversionsMeasured = {
  comparisons: Record<Case, Comparison>
  /** Of Offerdeck, in all rounds and while it warmed up. */
  answers: Record<Status, number>
  /** In the database at the end. */
  rows: Record<Status, number>
  /** So many more rows than answers there may be: the requests under way when wrk stopped counting, each time. */
  unheard: Record<Status, number>
  ledger: LedgerProblem[]
  log: string[]
}

export async function measureConversions(plan: Plan, say: Say): Promise<ConversionsMeasured> {
  preparePgbench()
  return withCopy(await prepareCatalogue(OFFERS, say), (copy) => measureOn(copy, plan, say))
}

async function measureOn(catalogue: Catalogue, plan: Plan, say: Say): Promise<ConversionsMeasured> {
  const postgres = await holdPostgres(catalogue.dataDir)
  const { pool, close } = postgres.open()
  try {
    await preparePlainTable(pool)
    say('Creating the accounts of pgbench …')
    await prepareTpcb(postgres)
    const loads = await prepareLoads(pool, catalogue)
    const compared = await compareReports(catalogue, { postgres, pool, loads }, plan, say)
    const rows = { pending: await countRows(pool, 'pending'), approved: await countRows(pool, 'approved') }
    const ledger = await checkLedger({ pool })
    return { ...compared, rows, unheard: { pending: unheard('pending', plan), approved: unheard('approved', plan) }, ledger } // prettier-ignore
  } finally {
    await close()
    await postgres.release()
  }
}

const unheard = (status: Status, { rounds }: Plan) =>
  Object.values(CASES)
    .filter((one) => one.status === status)
    .reduce((sum, { connections }) => sum + connections * (rounds + 2), 0)

type Setting = { postgres: Postgres; pool: pg.Pool; loads: Record<Status, Load> }

async function compareReports(catalogue: Catalogue, { postgres, pool, loads }: Setting, plan: Plan, say: Say) {
  const offerdeck = await startOfferdeck(catalogue.dataDir)
  const answers = { pending: 0, approved: 0 }
  const compareOne = async (name: Case) => {
    const { status, connections, over } = CASES[name]
    say(`${offerdeck.name} and pgbench (${over}) in turn, conversions ${status} at once, ${connections} connections …`)
    const runFirst = async (seconds: number) => {
      const lap = await runLap(offerdeck, { ...loads[status], connections }, seconds, postgres.cpuSeconds)
      answers[status] += lap.answers
      await waitForFeed(pool)
      return lap
    }
    await runFirst(plan.warmUpSeconds)
    // Plans made for empty tables do not suit full ones. PostgreSQL analyzes automatically, but only every minute.
    await runLong(pool, 'ANALYZE')
    return takeTurns(runFirst, (seconds) => runPgbench(postgres, over, connections, seconds), plan)
  }
  try {
    const comparisons = {
      pending: await compareOne('pending'),
      payment: await compareOne('payment'),
      crowd: await compareOne('crowd'),
      approved: await compareOne('approved'),
    }
    return { comparisons, answers, log: offerdeck.log }
  } finally {
    await offerdeck.stop()
  }
}

/** Until all events have their place in the feed: what Offerdeck has left to do would slow pgbench down. */
async function waitForFeed(pool: pg.Pool): Promise<void> {
  for (;;) {
    const { rows } = await pool.query('SELECT FROM waiting_events LIMIT 1')
    if (rows.length === 0) return
    await sleep(50)
  }
}

/** Two sets of open offers; of the second the operator takes the app's word. */
async function prepareLoads(pool: pg.Pool, { apiKey, apiSecret }: Catalogue): Promise<Record<Status, Load>> {
  const { rows } = await pool.query<{ offer_id: number }>(
    `SELECT offer_id FROM offers WHERE status = 'active' AND NOT is_capped AND starts_at IS NULL AND ends_at IS NULL
       AND NOT EXISTS (SELECT FROM goals WHERE goals.offer_id = offers.offer_id AND is_repeatable)
     ORDER BY random() LIMIT $1`,
    [2 * REPORTED],
  )
  const ids = rows.map((row) => row.offer_id)
  const trusted = ids.splice(REPORTED)
  await pool.query('INSERT INTO trusted_offers (app_id, offer_id) SELECT app_id, unnest($1::bigint[]) FROM apps', [
    trusted,
  ])
  const loadOf = (status: Status, offerIds: number[]): Load => {
    const lines = join(FOLDER, `reported-${status}.txt`)
    writeFileSync(lines, offerIds.map((id) => `${id}\n`).join(''))
    return { kind: 'report', lines, apiKey, apiSecret }
  }
  return { pending: loadOf('pending', ids), approved: loadOf('approved', trusted) }
}

async function countRows(pool: pg.Pool, status: Status): Promise<number> {
  const { rows } = await pool.query<{ count: number }>('SELECT count(*) FROM conversions WHERE status = $1', [status])
  return rows[0]?.count ?? 0
}
