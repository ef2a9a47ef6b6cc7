// Requests of all kinds to every route, by every kind of caller: valid ones, ones with something wrong in them, and bytes
// that are hardly HTTP. No answer is a 5xx, late, outside of its description or tells a secret; nothing is logged as an
// error; neither memory nor handles grow; and in the end the books balance.
//
// SEED repeats the choices of a run, REQUESTS and DURATION (seconds) say how much is sent:
//   SEED=7 REQUESTS=100000 npm run test:fuzz
// A request that fails is printed as a line of JSON. In a file, it is sent again: REPLAY=failure.json npm run test:fuzz
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { after } from 'node:test'
import { checkLedger } from '../../../src/features/ledger/check.ts'
import { until } from '../../installation.ts'
import { IS_LONG, testLong } from '../../tier.ts'
import { byKey, createCallers, secretsOf } from './callers.ts'
import { readDescription } from './description.ts'
import { Fuzzer, MOST_FAILURES } from './fuzzer.ts'
import { Harvest } from './harvest.ts'
import { Ids } from './ids.ts'
import type { Held } from './inspector.ts'
import { METRICS_TOKEN, Place } from './place.ts'
import { createStock } from './stock.ts'

const isAsked = process.env['DURATION'] !== undefined || process.env['REQUESTS'] !== undefined
/** The short form sends much the same each time. */
const SEED = Number(process.env['SEED'] ?? (isAsked ? Math.floor(Math.random() * 1e6) : 1))
const SECONDS = Number(process.env['DURATION'] ?? (process.env['REQUESTS'] === undefined ? 25 : Infinity))
const REQUESTS = Number(process.env['REQUESTS'] ?? Infinity)
const REPLAY = process.env['REPLAY']

/** What new IDs are read after, and how many of these a window of measuring has. Callers are new with each window. */
const STEP = 1_000
const WINDOW = 10 * STEP

/** Of so many requests, each operation gets some that it accepts. */
const ENOUGH = 50_000
/** But for those that need what a run comes to by chance. */
const SELDOM: Record<string, string> = {
  debitUser: 'needs a user with a balance, in the app that keeps balances',
  downloadPaymentRun: 'needs a payment run that was not cancelled meanwhile',
}

const place = new Place()
after(async () => {
  if (IS_LONG) await place.close()
})

testLong(`the server answers whatever is sent to it as it should (seed: ${SEED})`, async (t) => {
  await place.open()
  const { url } = place.api
  const stalls: string[] = []
  void place.watch((stack) => stalls.push(`${new Date().toISOString()}\n${stack}`))
  const operations = await readDescription(url)
  const fuzzer = new Fuzzer({ seed: SEED, port: place.port, operations, metricsToken: METRICS_TOKEN })
  const [ids, harvest] = [new Ids(), new Harvest()]
  const windows: Held[][] = []
  const symbols = new Map([[url, '<url>']])
  let endMs = Infinity
  const isOver = () => Date.now() >= endMs || fuzzer.total >= REQUESTS || fuzzer.failures.length >= MOST_FAILURES

  for (let episode = 0; episode === 0 || !isOver(); episode++) {
    const { world, receiverUrl, mail } = place
    const callers = await createCallers({ world, url, receiverUrl, episode })
    const secrets = secretsOf(callers)
    for (const [secret, name] of secrets) symbols.set(secret, name)
    fuzzer.checks.secrets = secrets
    const [{ live } = {}] = callers.publisher.apps
    const isKnown = async () => (await fetch(`${url}/v1/offers?userId=u`, { headers: Object.fromEntries(byKey(live!)) })).status === 200 // prettier-ignore
    await until(isKnown)
    const stock = await createStock({ world, url, receiverUrl, mail, episode }, callers)
    fuzzer.around = { ids, harvest, receiverUrl, url, callers, stock }
    endMs = Math.min(endMs, Date.now() + SECONDS * 1_000)
    if (REPLAY !== undefined) return t.diagnostic(await replay(fuzzer, symbols))
    for (let step = 0; step < WINDOW / STEP && !isOver(); step++) {
      await ids.refresh(place.database.db)
      await fuzzer.run(Math.min(STEP, REQUESTS - fuzzer.total), isOver)
      if (windows.length === 0) windows.push(await place.held()) // what is loaded and kept by the first use is there
    }
    windows.push(await place.held())
    t.diagnostic(`${fuzzer.total} requests; ${windows.at(-1)?.map(describeHeld).join('; ')}`)
  }

  t.diagnostic(describe(fuzzer))
  if (stalls.length > 0) t.diagnostic(`the API was busy for long ${stalls.length} times: ${stalls.join('\n')}`)
  const unreached = operations.filter(({ name }) => ![...(fuzzer.reached.get(name)?.keys() ?? [])].some((status) => status < 400)) // prettier-ignore
  for (const { name } of unreached)
    t.diagnostic(`never answered with success: ${name}\n${[...(fuzzer.reached.get(name) ?? [])].map(([status, said]) => `  ${status} ${said}\n`).join('')}`) // prettier-ignore
  if (fuzzer.total >= ENOUGH) assert.deepEqual(unreached.filter(({ id }) => !(id in SELDOM)).map(({ name }) => name), []) // prettier-ignore
  assert.deepEqual(fuzzer.failures.map((failure) => print(failure, symbols)), []) // prettier-ignore
  assert.deepEqual(place.errors(), [])
  assert.ok(shareOfSuccess(fuzzer) > 0.1, 'the callers no longer get past the gates')
  assert.deepEqual(growthOf(windows[0] ?? [], windows.at(-1) ?? [], fuzzer.total), [])
  assert.deepEqual(await checkLedger(place.database), [])
  assert.equal((await fetch(`${url}/readyz`)).status, 200)
  assert.deepEqual(await place.stop(), [0, 0])
})

/** Much less than a request has: what each of them leaves behind would show. */
const BYTES_A_REQUEST = 100
/** Caches fill (of lists of offers 40 MB), connections to the database are opened. */
const SLACK = { heapBytes: 80e6, files: 20, handles: 40 }

function growthOf(before: readonly Held[], after: readonly Held[], requests: number): string[] {
  return after.flatMap((now, i) => {
    const then = before[i] ?? now
    const isMore =
      now.heapBytes > then.heapBytes + SLACK.heapBytes + requests * BYTES_A_REQUEST ||
      now.files > then.files + SLACK.files ||
      now.handles > then.handles + SLACK.handles
    return isMore ? [`before: ${describeHeld(then)}; after: ${describeHeld(now)}`] : []
  })
}

function shareOfSuccess({ statuses }: Fuzzer): number {
  const count = (some: [number, number][]) => some.reduce((sum, [, many]) => sum + many, 0)
  return count([...statuses].filter(([status]) => status < 400)) / count([...statuses])
}

/** With names in place of secrets: the same ones have others elsewhere. */
function print({ bytes, ...failure }: Fuzzer['failures'][number], symbols: ReadonlyMap<string, string>) {
  let text = bytes.toString('latin1')
  for (const [secret, name] of symbols) text = text.replaceAll(secret, name)
  const logged = place.api.err.split('\n').find((line) => failure.requestId !== '' && line.includes(failure.requestId))
  return `${JSON.stringify({ ...failure, bytes: text })}\n${(logged ?? '').replaceAll('\\n', '\n').slice(0, 1_500)}`
}

async function replay(fuzzer: Fuzzer, symbols: ReadonlyMap<string, string>): Promise<string> {
  let { bytes: text } = JSON.parse(readFileSync(REPLAY ?? '', 'utf8')) as { bytes: string }
  for (const [secret, name] of symbols) text = text.replaceAll(name, secret)
  const answer = await fuzzer.replay(Buffer.from(text, 'latin1'))
  const errors = place.errors().map((line) => line.replaceAll('\\n', '\n'))
  return typeof answer === 'object' && answer !== null ? `${answer.status} ${answer.body.toString('utf8').slice(0, 2_000)}\n${errors.join('\n')}` : String(answer) // prettier-ignore
}

const megabytes = (bytes: number) => `${(bytes / 1e6).toFixed(1)} MB`
const describeHeld = ({ heapBytes, residentBytes, handles, files }: Held) =>
  `heap ${megabytes(heapBytes)}, resident ${megabytes(residentBytes)}, ${handles} handles, ${files} files`

function describe({ total, sent, statuses, reached, slowestMs, slowest }: Fuzzer): string {
  const counts = (some: Map<string | number, number>) =>
    [...some].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([name, count]) => `${name}: ${count}`).join(', ') // prettier-ignore
  return `${total} requests to ${reached.size} operations (${counts(sent)}); answers ${counts(statuses)}; slowest ${Math.round(slowestMs)} ms (${slowest})`
}
