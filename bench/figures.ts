// The figures: what is measured, against what, and what was wanted of it.
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { openDatabase } from '../src/db/open.ts'
import { setOfferStatus } from '../src/features/offers/offers.ts'
import { type Catalogue, FILTERS, FOLDER, prepareCatalogue, runCli, type Say } from './data.ts'
import { askAll, contentOf, pathOf, startSqlLike } from './same-offers.ts'
import { fetchFrom, type Reply, type Running, startBare, startOfferdeck, toSample } from './servers.ts'
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

/** The bare server, with the one reply whose size is nearest to the mean. */
function startBareLike(replies: Reply[]): Promise<Running> {
  const mean = replies.reduce((sum, { body }) => sum + body.length, 0) / replies.length
  const distance = ({ body }: Reply) => Math.abs(body.length - mean)
  const sample = replies.reduce((best, reply) => (distance(reply) < distance(best) ? reply : best))
  return startBare(toSample(sample), join(FOLDER, 'sample.json'))
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
  const command = runCli(catalogue.dataDir, 'offer', 'pause', String(offerId), '--yes').then(() => performance.now())
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
