// What the database could do, by PostgreSQL's own pgbench: at best, one plain row inserted in each transaction; and its own
// example of a payment, TPC-B, which reads and changes an account, two sums and a history.
import { execFile } from 'node:child_process'
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type pg from 'pg'
import { FOLDER } from './data.ts'
import type { Postgres } from './postgres.ts'
import { ensureProgram } from './programs.ts'
import type { Lap } from './rounds.ts'

const SCRIPT = join(FOLDER, 'insert.sql')
const LOG_NAME = 'pgbench-lap'
const SCALE = 50 // 5,000,000 accounts
const SAMPLED = 0.1 // of the transactions, for the percentiles

export const preparePgbench = () => ensureProgram('pgbench', 'postgresql-contrib')

/** In a schema of its own: Offerdeck's tables stay as they are. */
export async function preparePlainTable(pool: pg.Pool): Promise<void> {
  await pool.query(`
    DROP SCHEMA IF EXISTS bench CASCADE;
    CREATE SCHEMA bench;
    CREATE TABLE bench.plain (
      id            bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
      app_id        bigint NOT NULL,
      offer_id      bigint NOT NULL,
      user_id       text NOT NULL,
      status        text NOT NULL,
      payout_micros bigint NOT NULL,
      created_at    timestamptz NOT NULL
    )`)
  writeFileSync(
    SCRIPT,
    `\\set offer random(1, 100)
\\set user random(1, 1000000000)
INSERT INTO bench.plain (app_id, offer_id, user_id, status, payout_micros, created_at)
VALUES (1, :offer, 'user-' || :user, 'pending', 1500000, now());
`,
  )
}

/** Beside the plain table. */
export async function prepareTpcb(postgres: Postgres): Promise<void> {
  await promisify(execFile)('pgbench', ['-i', '-q', '-s', String(SCALE)], { env: inSchema(postgres), cwd: FOLDER })
}

const inSchema = ({ env }: Postgres) => ({ ...env, PGOPTIONS: '-c search_path=bench -c statement_timeout=0' })

export type Transaction = 'insert' | 'tpcb'
const CHOICES: Record<Transaction, string[]> = { insert: ['-f', SCRIPT], tpcb: ['-b', 'tpcb-like'] }

/** On each connection one transaction after the other. */
export async function runPgbench(
  postgres: Postgres,
  transaction: Transaction,
  connections: number,
  seconds: number,
): Promise<Lap> {
  const { cpuSeconds } = postgres
  const cpuBefore = cpuSeconds()
  const options = ['-n', '-M', 'prepared', '-c', String(connections), '-j', '1', '-T', String(seconds)]
  const logging = ['-l', `--log-prefix=${LOG_NAME}`, `--sampling-rate=${SAMPLED}`]
  const asked = [...options, ...CHOICES[transaction], ...logging]
  const { stdout } = await promisify(execFile)('pgbench', asked, { env: inSchema(postgres), cwd: FOLDER })
  const [, transactions] = /transactions actually processed: (\d+)/.exec(stdout) ?? []
  const [, rate] = /tps = ([\d.]+)/.exec(stdout) ?? []
  if (transactions === undefined || rate === undefined) throw new Error(`pgbench gave no report:\n${stdout}`)
  const times = takeTimes()
  return {
    requestsPerSecond: Number(rate),
    cpuMicrosPerRequest: 0,
    databaseMicrosPerRequest: ((cpuSeconds() - cpuBefore) * 1e6) / Number(transactions),
    bytesPerRequest: 0,
    p50Ms: percentile(times, 0.5),
    p99Ms: percentile(times, 0.99),
    answers: Number(transactions),
    refused: 0,
    broken: 0,
  }
}

/** Milliseconds of the transactions that pgbench logged, in ascending order; the third field of a line. */
function takeTimes(): number[] {
  const files = readdirSync(FOLDER).filter((name) => name.startsWith(`${LOG_NAME}.`))
  const lines = files.flatMap((name) => readFileSync(join(FOLDER, name), 'latin1').trim().split('\n'))
  for (const name of files) rmSync(join(FOLDER, name))
  return lines.map((line) => Number(line.split(' ')[2]) / 1000).toSorted((a, b) => a - b)
}

const percentile = (sorted: number[], part: number) => sorted[Math.floor(sorted.length * part)] ?? Number.NaN
