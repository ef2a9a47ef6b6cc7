// The figures: what is measured, against what, and what was wanted of it.
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { openDatabase } from '../src/db/open.ts'
import { setOfferStatus } from '../src/features/offers/offers.ts'
import { type Catalogue, FILTERS, FOLDER, prepareCatalogue, runCli, type Say } from './data.ts'
import { fetchFrom, type Reply, type Running, startBare, startOfferdeck, startSql, toSample } from './servers.ts'
import { type Comparison, median, type Plan } from './rounds.ts'
import { compareLists, type ListKind } from './wrk.ts'
import { TESTER } from '../test/tester.ts'

export type FigureNumber = 1 | 2 | 3 | 4 | 5 | 6 | 7 | 8 | 9 | 10 | 11 | 12 | 13 | 14 | 15 | 16

/** What one catalogue gave; only what was asked for. */
export type Measured = {
  offers: number
  startMs: number
  residentMbAtStart: number
  residentMbAtEnd: number
  list?: Comparison
  newUsers?: Comparison
  sql?: Comparison
  change?: Change
  /** Warnings and errors that servers logged. */
  log: string[]
}

/** How long until a change is seen over the API, in milliseconds. */
export type Change = {
  /** From its commit, for each of several changes. */
  fromCommit: number[]
  /** From the start of `offerdeck offer pause`. */
  fromCommand: number
  /** What the command itself took, from its start until it ended. */
  command: number
}

export async function measureCatalogue(
  offers: number,
  wanted: ReadonlySet<FigureNumber>,
  plan: Plan,
  say: Say,
): Promise<Measured> {
  const catalogue = await prepareCatalogue(offers, say)
  const size = offers.toLocaleString('en')
  say(`Starting Offerdeck with ${size} offers …`)
  const offerdeck = await startOfferdeck(catalogue.dataDir)
  const residentMbAtStart = offerdeck.residentMb()
  const measured: Partial<Measured> = {}
  const log: string[] = []
  const against = async (kind: ListKind, contender: Running) => {
    say(`${offerdeck.name} and ${contender.name} in turn, ${size} offers, load "${kind}" …`)
    try {
      return await compareLists(offerdeck, contender, kind, catalogue, plan)
    } finally {
      await contender.stop()
      log.push(...contender.log.map((line) => `${contender.name}: ${line}`))
    }
  }
  try {
    const lists = await askAll(offerdeck, catalogue, 'list') // now every list exists
    if (wanted.has(1) || wanted.has(2)) measured.list = await against('list', await startBareLike(lists))
    if (wanted.has(3)) {
      measured.newUsers = await against('new', await startBareLike(await askAll(offerdeck, catalogue, 'new')))
    }
    if (wanted.has(4)) measured.sql = await against('list', await startSqlLike(lists, catalogue))
    if (wanted.has(5)) measured.change = await measureChange(offerdeck, catalogue, say)
    return {
      offers,
      startMs: offerdeck.startMs,
      residentMbAtStart,
      residentMbAtEnd: offerdeck.residentMb(),
      ...measured,
      log,
    }
  } finally {
    await offerdeck.stop()
    log.push(...offerdeck.log.map((line) => `${offerdeck.name}: ${line}`))
  }
}

const pathOf = ({ apiKey, apiSecret }: Catalogue, filter: string, rest: string) =>
  `/api/v1/offers?apiKey=${apiKey}&apiSecret=${apiSecret}&${filter}&userId=user-${rest}`

/** Asks once for every filter, like the load does. */
async function askAll(server: Running, catalogue: Catalogue, kind: ListKind): Promise<Reply[]> {
  const replies: Reply[] = []
  for (const [i, filter] of FILTERS.entries()) {
    const id = kind === 'list' ? String(100_000_000 + i) : `${Date.now()}-${1000 + i}`
    const subIds = kind === 'list' ? '' : `&aff_sub=a${id}&aff_sub2=b${id}&aff_sub3=c${id}&aff_sub4=d${id}`
    const reply = await fetchFrom(server, pathOf(catalogue, filter, id + subIds))
    if (reply.status !== 200) throw new Error(`${server.name} answered ${reply.status}: ${reply.body}`)
    replies.push(reply)
  }
  return replies
}

/** The bare server, with the one reply whose size is nearest to the mean. */
function startBareLike(replies: Reply[]): Promise<Running> {
  const mean = replies.reduce((sum, { body }) => sum + body.length, 0) / replies.length
  const distance = ({ body }: Reply) => Math.abs(body.length - mean)
  const sample = replies.reduce((best, reply) => (distance(reply) < distance(best) ? reply : best))
  return startBare(toSample(sample), join(FOLDER, 'sample.json'))
}

/** The SQL server, once it has shown that it gives the same offers. */
async function startSqlLike(replies: Reply[], catalogue: Catalogue): Promise<Running> {
  const sql = await startSql(catalogue.dataDir)
  for (const [i, reply] of (await askAll(sql, catalogue, 'list')).entries()) {
    const difference = findDifference(contentOf(replies[i] as Reply), contentOf(reply))
    if (difference !== null) {
      await sql.stop()
      throw new Error(`The SQL server and Offerdeck disagree about ${FILTERS[i]}: ${difference}`)
    }
  }
  return sql
}

type Content = { total: number; offers: Record<string, unknown>[] }

function contentOf({ body }: Reply): Content {
  const text = Buffer.from(body, 'latin1').toString('utf8')
  // Every server names itself in what it sends.
  return (JSON.parse(text.replaceAll(/http:\/\/127\.0\.0\.1:\d+/g, '')) as { data: Content }).data
}

function findDifference(ours: Content, theirs: Content): string | null {
  if (ours.total !== theirs.total) return `total ${ours.total} and ${theirs.total}`
  for (const [i, offer] of ours.offers.entries()) {
    for (const [name, value] of Object.entries(offer)) {
      const other = theirs.offers[i]?.[name]
      const isSame = name === 'link' ? typeof other === 'string' : canonical(value) === canonical(other)
      if (!isSame) return `${name} of offer ${i}: ${JSON.stringify(value)} and ${JSON.stringify(other)}`
    }
  }
  return null
}

/** JSON whatever the order of the keys. */
function canonical(value: unknown): string {
  return JSON.stringify(value, (_key, part: unknown) =>
    part !== null && typeof part === 'object' && !Array.isArray(part)
      ? Object.fromEntries(Object.entries(part).toSorted(([a], [b]) => (a < b ? -1 : 1)))
      : part,
  )
}

/** Pauses and resumes the first offer of a list, and looks at that list until it shows. */
async function measureChange(server: Running, catalogue: Catalogue, say: Say): Promise<Change> {
  say('Changing an offer and waiting until the API shows it …')
  const path = pathOf(catalogue, FILTERS[0] ?? '', '1')
  const offerId = Number(contentOf(await fetchFrom(server, path)).offers[0]?.['offer_id'])
  const showsAs = async (status: 'active' | 'paused') => {
    for (;;) {
      const isThere = (await fetchFrom(server, path)).body.includes(`"offer_id":${offerId},`)
      if (isThere === (status === 'active')) return performance.now()
      await sleep(2)
    }
  }
  const database = await openDatabase({ databaseUrl: null, dataDir: catalogue.dataDir, connections: 1 })
  const fromCommit: number[] = []
  try {
    for (const status of Array.from({ length: 5 }, () => ['paused', 'active'] as const).flat()) {
      await sleep(Math.random() * 300) // else every change comes right after the server looked
      await setOfferStatus(database.db, TESTER, offerId, status)
      const committedAt = performance.now()
      fromCommit.push((await showsAs(status)) - committedAt)
    }
  } finally {
    await database.close()
  }
  const startedAt = performance.now()
  const command = runCli(catalogue.dataDir, 'offer', 'pause', String(offerId)).then(() => performance.now())
  const [seenAt, endedAt] = await Promise.all([showsAs('paused'), command])
  await runCli(catalogue.dataDir, 'offer', 'resume', String(offerId))
  await showsAs('active')
  return { fromCommit, fromCommand: seenAt - startedAt, command: endedAt - startedAt }
}

export type Starts = { firstMs: number; laterMs: number }

/** The very first start, which creates the database and the demo, and later ones (median of three). */
export async function measureStarts(say: Say): Promise<Starts> {
  say('Starting on an empty folder, then again …')
  const dataDir = join(FOLDER, `start-${process.pid}`)
  try {
    const first = await startOfferdeck(dataDir, 'on')
    await first.stop()
    const later: number[] = []
    for (let i = 0; i < 3; i++) {
      const again = await startOfferdeck(dataDir, 'on')
      later.push(again.startMs)
      await again.stop()
    }
    return { firstMs: first.startMs, laterMs: median(later) }
  } finally {
    rmSync(dataDir, { recursive: true, force: true })
  }
}
