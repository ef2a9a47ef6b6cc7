// A sender of webhooks as it is usually written by hand, and as Svix does it: messages in PostgreSQL, claimed in batches,
// each signed, sent and logged by a statement of its own. It has no order, no circuit and no limits, all of which
// Offerdeck has. Works on command like bullmq-worker.ts.
import { createHmac, randomBytes } from 'node:crypto'
import { createInterface } from 'node:readline'
import { Agent, request } from 'undici'
import { openDatabase } from '../src/db/open.ts'
import { BODY, HEADERS, IN_FLIGHT } from './delivery-load.ts'

const [, , sink = '', dataDir = ''] = process.argv
const FILLED_A_SECOND = 8_000
const CLAIMED = 256
const secret = randomBytes(32)
const dispatcher = new Agent({ connections: IN_FLIGHT, pipelining: 1 })
const { pool } = await openDatabase({ databaseUrl: null, dataDir, connections: 10 })
await pool.query(`
  CREATE SCHEMA IF NOT EXISTS bench;
  DROP TABLE IF EXISTS bench.attempts, bench.messages;
  CREATE TABLE bench.messages (id uuid PRIMARY KEY DEFAULT uuidv7(), body text NOT NULL, state text NOT NULL DEFAULT 'queued', due_at timestamptz NOT NULL DEFAULT now()) WITH (fillfactor = 70);
  CREATE INDEX messages_due ON bench.messages (due_at) WHERE state <> 'delivered';
  CREATE TABLE bench.attempts (id uuid NOT NULL, at timestamptz NOT NULL DEFAULT now(), status integer NOT NULL, ms integer NOT NULL, answer text NOT NULL);
  CREATE INDEX attempts_id ON bench.attempts (id)`)

type Message = { id: string; body: string }

const CLAIM = {
  name: 'claim',
  text: `UPDATE bench.messages m SET due_at = now() + interval '30 s' FROM (
      SELECT id FROM bench.messages WHERE state <> 'delivered' AND due_at <= now() ORDER BY due_at LIMIT ${CLAIMED} FOR UPDATE SKIP LOCKED) due
    WHERE m.id = due.id RETURNING m.id, m.body`,
}
const LOG = {
  name: 'log',
  text: `WITH sent AS (UPDATE bench.messages SET state = 'delivered' WHERE id = $1)
    INSERT INTO bench.attempts (id, status, ms, answer) VALUES ($1, $2, $3, $4)`,
}

async function send({ id, body }: Message): Promise<void> {
  const startedMs = performance.now()
  const timestamp = String(Math.floor(Date.now() / 1000))
  const signature = createHmac('sha256', secret).update(`${id}.${timestamp}.${body}`).digest('base64')
  const headers = { ...HEADERS, 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': `v1,${signature}` } // prettier-ignore
  const answer = await request(sink, { method: 'POST', headers, body, dispatcher })
  const text = await answer.body.text()
  const ms = Math.round(performance.now() - startedMs)
  await pool.query({ ...LOG, values: [id, answer.statusCode, ms, text] })
}

/** The next batch is claimed while the one before is sent. */
async function deliverUntil(endMs: number): Promise<number> {
  const claim = async () => (await pool.query<Message>(CLAIM)).rows
  let delivered = 0
  let claimed: Message[] = []
  let next: Promise<Message[]> | null = null
  const take = async (): Promise<Message | undefined> => {
    if (claimed.length === 0) claimed = await (next ??= claim().finally(() => (next = null)))
    return claimed.pop()
  }
  const work = async () => {
    while (performance.now() < endMs) {
      const message = await take()
      if (message === undefined) continue
      await send(message)
      delivered++
    }
  }
  await Promise.all(Array.from({ length: IN_FLIGHT }, work))
  return delivered
}

/** What was claimed and not sent is queued again. */
async function fill(seconds: number): Promise<void> {
  await pool.query(`UPDATE bench.messages SET due_at = now() WHERE state <> 'delivered'`)
  const { rows } = await pool.query<{ waiting: number }>(`SELECT count(*)::int AS waiting FROM bench.messages WHERE state <> 'delivered'`) // prettier-ignore
  const missing = Math.max(0, seconds * FILLED_A_SECOND - (rows[0]?.waiting ?? 0))
  await pool.query('INSERT INTO bench.messages (body) SELECT $1 FROM generate_series(1, $2::int)', [BODY, missing])
}

console.log(JSON.stringify({ address: 'ready' }))
for await (const line of createInterface({ input: process.stdin })) {
  const seconds = Number(line)
  await fill(seconds)
  console.log(JSON.stringify({ ready: true }))
  const startedMs = performance.now()
  const delivered = await deliverUntil(startedMs + seconds * 1000)
  console.log(JSON.stringify({ rate: (delivered * 1000) / (performance.now() - startedMs) }))
}
