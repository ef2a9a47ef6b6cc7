// kill -9 at random moments under load: whatever was acknowledged is found, and nothing is found that was not sent.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { holdEmbeddedPostgres } from '../../src/db/embedded.ts'
import type { IssuedCredentials } from '../../src/features/apps/keys.ts'
import { Installation, until } from '../installation.ts'
import { FAULT_ROUNDS } from '../tier.ts'

const CLIENTS = 8

const program = new Installation()
let credentials: IssuedCredentials
const attempted = new Set<string>()
const acknowledged = new Set<string>()

before(async () => {
  await program.json('publisher', 'create', '--name', 'P')
  const options = ['--publisher', 'P', '--name', 'A', '--rate-limit', '1000000']
  credentials = (await program.json<{ live: IssuedCredentials }>('app', 'create', ...options)).live
  await program.json('seed', '--offers', '20')
})
after(() => program.remove())

/** Sends users with sub-IDs, one after the other, until stopped; remembers which were acknowledged. */
async function sendUntil(url: string, name: string, isOver: () => boolean): Promise<void> {
  const headers = { 'x-api-key': credentials.api_key, 'x-api-secret': credentials.api_secret }
  for (let i = 0; !isOver(); i++) {
    const userId = `${name}-${i}`
    attempted.add(userId)
    try {
      const answer = await fetch(`${url}/v1/offers?userId=${userId}&aff_sub=${userId}&limit=1`, {
        headers,
        signal: AbortSignal.timeout(10_000),
      })
      await answer.arrayBuffer()
      if (answer.status === 200) acknowledged.add(userId)
    } catch {
      await sleep(5) // the server is gone: so it was not acknowledged
    }
  }
}

async function kept(): Promise<Map<string, string>> {
  const postgres = await holdEmbeddedPostgres(program.dataDir)
  const client = new pg.Client(postgres.connection)
  await client.connect()
  const { rows } = await client.query<{ user_id: string; aff_sub: string }>(
    'SELECT user_id, aff_sub FROM user_contexts',
  )
  await client.end()
  await postgres.release()
  return new Map(rows.map((row) => [row.user_id, row.aff_sub]))
}

async function compare(): Promise<void> {
  const found = await kept()
  const lost = [...acknowledged].filter((userId) => found.get(userId) !== userId)
  assert.deepEqual(lost, [], 'acknowledged, but not found')
  assert.deepEqual(
    [...found.keys()].filter((userId) => !attempted.has(userId)),
    [],
    'found, but never sent',
  )
}

test(`after kill -9 of the server under load, nothing acknowledged is lost (${FAULT_ROUNDS} rounds)`, async () => {
  for (let round = 0; round < FAULT_ROUNDS; round++) {
    const server = await program.serve()
    let isOver = false
    const clients = Array.from({ length: CLIENTS }, (_, i) =>
      sendUntil(server.url, `server-${round}-${i}`, () => isOver),
    )
    await until(() => acknowledged.size > (round + 1) * 10) // the server is at work
    await sleep(Math.random() * 600)
    await server.kill('SIGKILL')
    isOver = true
    await Promise.all(clients)
    await compare()
  }
  assert.ok(acknowledged.size > FAULT_ROUNDS * 10, `only ${acknowledged.size} were acknowledged`)
})

test(`after kill -9 of PostgreSQL under load, the API goes on, the database restarts automatically, and nothing is lost (${FAULT_ROUNDS} rounds)`, async () => {
  const server = await program.serve()
  for (let round = 0; round < FAULT_ROUNDS; round++) {
    let isOver = false
    const clients = Array.from({ length: CLIENTS }, (_, i) =>
      sendUntil(server.url, `postgres-${round}-${i}`, () => isOver),
    )
    const before = acknowledged.size
    await until(() => acknowledged.size > before + CLIENTS)
    await sleep(Math.random() * 400)
    process.kill(
      Number(readFileSync(join(program.dataDir, 'postgres/data/postmaster.pid'), 'utf8').split('\n')[0]),
      'SIGKILL',
    )
    const answeredAt = acknowledged.size
    await until(() => acknowledged.size > answeredAt + CLIENTS) // answered while the database is unavailable
    await until(async () => {
      const { database } = (await (await fetch(`${server.url}/readyz`)).json()) as { database: string }
      return database === 'ok'
    })
    isOver = true
    await Promise.all(clients)
  }
  await server.kill('SIGINT')
  // What is still in the spool is replayed by the next start.
  const next = await program.serve()
  await until(async () => {
    const found = await kept()
    return [...acknowledged].every((userId) => found.has(userId))
  }).catch(() => {}) // compared below
  await next.kill('SIGINT')
  await compare()
})
