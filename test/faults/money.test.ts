// kill -9 on the path of money: every click that redirected, every confirmation and every report that was acknowledged
// is found afterwards, once, with its ledger and its history; nothing is found that was not sent.
import assert from 'node:assert/strict'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { openDatabase } from '../../src/db/open.ts'
import type { IssuedCredentials } from '../../src/features/apps/keys.ts'
import { checkLedger } from '../../src/features/ledger/check.ts'
import { Installation, until } from '../installation.ts'
import { FAULT_ROUNDS } from '../tier.ts'

const CLIENTS = 6
const OFFERS = 5

const program = new Installation()
let credentials: IssuedCredentials
let token: string
let firstOffer: number
/** Users for whom something was sent, and what was acknowledged for them. */
const attempted = new Set<string>()
const clicked = new Map<string, string>()
const converted = new Map<string, string>()

before(async () => {
  await program.json('publisher', 'create', '--name', 'P')
  const create = ['app', 'create', '--publisher', 'P', '--name', 'A', '--rate-limit', '1000000']
  credentials = (await program.json<{ live: IssuedCredentials }>(...create)).live
  token = (await program.json<{ token: string }>('advertiser', 'create', '--name', 'Acme')).token
  const file = join(program.folder, 'offers.json')
  const offer = { advertiser: 'Acme', name: 'An offer', category: 'app', payout: 1, revenue: 1.5 }
  const rows = Array.from({ length: OFFERS }, (_, i) => ({
    ...offer,
    external_id: `o${i}`,
    destination_url: 'https://ads.example.com/?c={click_id}',
    ...(i === 0 ? { total_click_cap: 1_000_000 } : {}), // so that the way of capped offers is taken, too
  }))
  writeFileSync(file, JSON.stringify(rows))
  await program.json('offer', 'import', file)
  firstOffer = (await program.json<{ offer_id: number }[]>('offer', 'list'))[0]?.offer_id ?? 0
})
after(() => program.remove())

/** Users come, follow a link and are confirmed; others are only reported. Until stopped. */
async function sendUntil(url: string, name: string, isOver: () => boolean): Promise<void> {
  const headers = { 'x-api-key': credentials.api_key, 'x-api-secret': credentials.api_secret }
  const signal = () => AbortSignal.timeout(10_000)
  for (let i = 0; !isOver(); i++) {
    const userId = `${name}-${i}`
    const offerId = firstOffer + (i % OFFERS)
    attempted.add(userId)
    try {
      if (i % 3 === 2) {
        const body = JSON.stringify({ userId, offerId })
        const answer = await fetch(`${url}/v1/conversions`, {
          method: 'POST',
          headers: { ...headers, 'content-type': 'application/json' },
          body,
          signal: signal(),
        })
        const { data } = (await answer.json()) as { data?: { conversion: { conversion_id: string } } }
        if (answer.ok && data !== undefined) converted.set(userId, data.conversion.conversion_id)
        continue
      }
      const listed = await fetch(`${url}/v1/offers/${offerId}?userId=${userId}`, { headers, signal: signal() })
      const { data } = (await listed.json()) as { data?: { offer: { link: string } } }
      const followed = await fetch(data?.offer.link ?? '', { redirect: 'manual', signal: signal() })
      await followed.arrayBuffer()
      const clickId = /c=([0-9a-f-]{36})$/.exec(followed.headers.get('location') ?? '')?.[1]
      if (followed.status !== 302 || clickId === undefined) continue
      clicked.set(userId, clickId)
      const confirmed = await fetch(`${url}/postback?click_id=${clickId}&txn_id=${userId}&token=${token}`, {
        signal: signal(),
      })
      const { conversion_id } = (await confirmed.json()) as { conversion_id: string | null }
      if (confirmed.status === 200 && conversion_id !== null) converted.set(userId, conversion_id)
    } catch {
      await sleep(5) // the server is gone, or the database: so it was not acknowledged
    }
  }
}

/** Shows a few only: the difference of thousands takes more memory than the machine has. */
const none = (found: unknown[], what: string) => assert.deepEqual(found.slice(0, 5), [], `${found.length} ${what}`)

async function compare(): Promise<void> {
  const database = await openDatabase({ databaseUrl: null, dataDir: program.dataDir, connections: 2 })
  try {
    const { db } = database
    const clicks = await db.selectFrom('clicks').select(['click_id', 'user_id']).execute()
    const conversions = await db.selectFrom('conversions').select(['conversion_id', 'user_id', 'status']).execute()
    const clickIds = new Set(clicks.map((row) => row.click_id))
    const byUser = new Map(conversions.map((row) => [row.user_id, row.conversion_id]))
    const lost = [...clicked].filter(([, clickId]) => !clickIds.has(clickId))
    none(lost, 'led on, but the click is not found')
    const forgotten = [...converted].filter(([userId, id]) => byUser.get(userId) !== id)
    none(forgotten, 'acknowledged, but not found')
    const strange = [...clicks, ...conversions].filter((row) => !attempted.has(row.user_id))
    none(strange, 'found, but never sent')
    assert.equal(byUser.size, conversions.length, 'one conversion a user')
    const { events } = await db
      .selectFrom('conversion_events')
      .select((is) => is.fn.countAll<number>().as('events'))
      .executeTakeFirstOrThrow()
    assert.ok(events >= conversions.length)
    assert.deepEqual(await checkLedger(database), [])
    const usage = await db
      .selectFrom('offer_usage')
      .select('clicks')
      .where('offer_id', '=', firstOffer)
      .where('day', '=', 0)
      .executeTakeFirstOrThrow()
    const counted = await db
      .selectFrom('clicks')
      .select((is) => is.fn.countAll<number>().as('clicks'))
      .where('offer_id', '=', firstOffer)
      .where('signals', 'is', null)
      .executeTakeFirstOrThrow()
    assert.equal(usage.clicks, counted.clicks, 'every click on the capped offer was counted once')
  } finally {
    await database.close()
  }
}

const startClients = (url: string, name: string, isOver: () => boolean) =>
  Array.from({ length: CLIENTS }, (_, i) => sendUntil(url, `${name}-${i}`, isOver))

/** Long enough for a few of each, then a while more: the kill comes at a random moment. */
async function someAnswers(): Promise<void> {
  const [clicks, conversions] = [clicked.size, converted.size]
  await until(() => clicked.size > clicks + CLIENTS && converted.size > conversions + CLIENTS, 30_000)
  await sleep(Math.random() * 400)
}

/** Starts once more, so that what the last one left in its spool is written: thousands of rows, if the database was down often. */
async function replaySpool(): Promise<void> {
  const server = await program.serve()
  const spool = join(program.dataDir, 'spool')
  await until(() => !readdirSync(spool, { recursive: true }).some((name) => String(name).endsWith('.jsonl')), 60_000)
  await server.kill('SIGINT')
}

test(`after kill -9 of the server under load, no click and no conversion is lost or doubled (${FAULT_ROUNDS} rounds)`, async () => {
  for (let round = 0; round < FAULT_ROUNDS; round++) {
    const server = await program.serve()
    let isOver = false
    const clients = startClients(server.url, `server-${round}`, () => isOver)
    await someAnswers()
    await server.kill('SIGKILL')
    isOver = true
    await Promise.all(clients)
    await compare()
  }
})

test(`after kill -9 of PostgreSQL under load, links lead on meanwhile, and nothing is lost or doubled (${FAULT_ROUNDS} rounds)`, async () => {
  const server = await program.serve()
  for (let round = 0; round < FAULT_ROUNDS; round++) {
    let isOver = false
    const clients = startClients(server.url, `postgres-${round}`, () => isOver)
    await someAnswers()
    const pidFile = readFileSync(join(program.dataDir, 'postgres/data/postmaster.pid'), 'utf8')
    process.kill(Number(pidFile.split('\n')[0]), 'SIGKILL')
    const before = clicked.size
    await until(() => clicked.size > before + CLIENTS, 20_000)
    await until(async () => {
      const { database } = (await (await fetch(`${server.url}/readyz`)).json()) as { database: string }
      return database === 'ok'
    }, 20_000)
    isOver = true
    await Promise.all(clients)
  }
  await server.kill('SIGINT')
  await replaySpool()
  await compare()
})
