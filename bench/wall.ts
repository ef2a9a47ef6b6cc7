// Figures 14 to 16: the wall. Its page and its data over a bare server that sends the same bytes; how soon a credited goal
// is in the browser with 2,000 streams open, and what they take; how long a phone on a slow network takes to show offers.
import { get } from 'node:http'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { writeFileSync } from 'node:fs'
import { chromium } from 'playwright-core'
import { signUser } from '../src/features/wall/signature.ts'
import { type Catalogue, FOLDER, prepareCatalogue, runCli, type Say, withCopy } from './data.ts'
import { ensureProgram } from './programs.ts'
import { type Comparison, median, type Plan, takeTurns } from './rounds.ts'
import { fetchFrom, type Running, startBare, startServe, toSample } from './servers.ts'
import { runLap } from './wrk.ts'

const OFFERS = 100_000
const STREAMS = 2_000
const CONVERSIONS = 30
const VISITS = 9
const FILE = join(FOLDER, 'walls.txt')
const ARGS = ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking', '--disable-component-update', '--disable-sync'] // prettier-ignore
/** Slow 4G and a phone with a quarter of the speed, as Chromium's own tools have them. */
const SLOW_4G = { offline: false, latency: 562.5, downloadThroughput: 180_000, uploadThroughput: 84_375 }
const PHONE = { viewport: { width: 390, height: 844 }, isMobile: true, userAgent: 'Mozilla/5.0 (Linux; Android 14; Pixel 8) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/150.0 Mobile Safari/537.36' } // prettier-ignore

export type WallMeasured = {
  page: Comparison
  data: Comparison
  pageBytes: number
  live: { ms: number[]; browserMs: number[]; kilobytesPerStream: number; open: number }
  firstOfferMs: number[]
  log: string[]
}

export async function measureWall(plan: Plan, say: Say): Promise<WallMeasured> {
  ensureProgram('chromium', 'chromium')
  return withCopy(await prepareCatalogue(OFFERS, say), async (catalogue) => {
    // A trusted proxy, so that each request can come from an address of its own: the wall counts by address.
    const server = await startServe(catalogue.dataDir, [], { TRUST_PROXY: '127.0.0.1' })
    await using ended = new AsyncDisposableStack()
    ended.defer(() => server.stop())
    const page = await compare(server, catalogue, '/wall', plan, say)
    const data = await compare(server, catalogue, '/wall/v1/offers', plan, say)
    const firstOfferMs = await visitSlowly(server, catalogue, say)
    const live = await measureLive(server, catalogue, say)
    return { page, data, pageBytes: page.second.bytesPerRequest, live, firstOfferMs, log: server.log }
  })
}

const pathOf = (path: string, { apiKey }: Catalogue, userId: string) =>
  `${path}?apiKey=${apiKey}&platform=web&country=US&userId=${userId}`

async function compare(server: Running, catalogue: Catalogue, path: string, plan: Plan, say: Say): Promise<Comparison> {
  writeFileSync(FILE, `${pathOf(path, catalogue, 'user-')}\n`)
  const headers = { 'Accept-Encoding': 'gzip', 'User-Agent': 'Mozilla/5.0 (X11; Linux x86_64) Chrome/150.0' }
  const sample = await fetchFrom(server, pathOf(path, catalogue, 'user-1'), headers)
  if (sample.status !== 200) throw new Error(`${path}: ${sample.status} ${sample.body}`)
  const bare = await startBare(toSample(sample), join(FOLDER, 'sample.json'))
  try {
    say(`${server.name} and ${bare.name} in turn, ${path} …`)
    const load = { ...catalogue, kind: 'wall', lines: FILE } as const
    return await takeTurns(
      (seconds) => runLap(server, load, seconds),
      (seconds) => runLap(bare, load, seconds),
      plan,
    )
  } finally {
    await bare.stop()
  }
}

async function visitSlowly({ port }: Running, catalogue: Catalogue, say: Say): Promise<number[]> {
  say('The wall on a slow phone, again and again in a new browser …')
  const browser = await chromium.launch({ executablePath: process.env['CHROMIUM'] ?? '/usr/bin/chromium', args: ARGS })
  const times: number[] = []
  try {
    for (let round = 0; round < VISITS; round++) {
      await using context = await browser.newContext(PHONE)
      const page = await context.newPage()
      const devtools = await context.newCDPSession(page)
      await devtools.send('Network.enable')
      await devtools.send('Network.emulateNetworkConditions', SLOW_4G)
      await devtools.send('Emulation.setCPUThrottlingRate', { rate: 4 })
      await page.addInitScript(`(function look() {
        if (document.querySelector('.offers .open')) requestAnimationFrame(() => (window.readyAt = performance.now()))
        else requestAnimationFrame(look)
      })()`)
      await page.goto(`http://127.0.0.1:${port}${pathOf('/wall', catalogue, `phone-${round}`)}`, {
        waitUntil: 'commit',
      })
      for (;;) {
        const ms = await page.evaluate<number | undefined>('window.readyAt')
        if (ms !== undefined) {
          times.push(ms)
          break
        }
        await sleep(20)
      }
    }
  } finally {
    await browser.close()
  }
  return times.slice(1) // the first one warms the browser up
}

type Issued = { live: { api_key: string; api_secret: string; signing_secret: string }; app_id: number }

async function measureLive(server: Running, { dataDir }: Catalogue, say: Say): Promise<WallMeasured['live']> {
  say(`${STREAMS} streams …`)
  const created = await runCli(dataDir, 'app', 'create', '--publisher', 'P', '--name', `Live ${Date.now()}`, '--currency', 'Coins', '--rate', '100', '--json') // prettier-ignore
  const { live: keys } = JSON.parse(created) as Issued
  await sleep(2_000) // until the server knows it
  const expiresAtS = Math.floor(Date.now() / 1000) + 3_600
  const before = server.residentMb()
  const heard = new Map<string, () => void>()
  const closers = await Promise.all(
    Array.from({ length: STREAMS }, (_, i) => follow(server, keys, `live-${i}`, expiresAtS, heard)),
  )
  const kilobytesPerStream = ((server.residentMb() - before) * 1024) / STREAMS
  const listed = await fetchFrom(server, '/v1/offers?userId=x&limit=100', { 'X-API-Key': keys.api_key, 'X-API-Secret': keys.api_secret }) // prettier-ignore
  const { data } = JSON.parse(listed.body) as { data: { offers: { offer_id: number }[] } }
  const offers = data.offers.map(({ offer_id }) => offer_id)
  const ms = await timeReports(server, keys, offers, (i) => {
    const userId = `live-${i * 17}`
    return { userId, arrived: new Promise<void>((resolve) => heard.set(userId, resolve)) }
  })
  const browserMs = await timeInBrowser(server, keys, offers, expiresAtS)
  for (const close of closers) close()
  return { ms, browserMs, kilobytesPerStream, open: closers.length }
}

type Awaited = { userId: string; arrived: Promise<void> }

/** From the answer to each report, which is sent when it is committed, until it has arrived. */
async function timeReports(server: Running, keys: Issued['live'], offers: number[], next: (i: number) => Awaited) {
  const ms: number[] = []
  for (let i = 0; i < CONVERSIONS; i++) {
    const { userId, arrived } = next(i)
    await report(server, keys, userId, offers[i % offers.length] ?? 0)
    const startedAt = performance.now()
    await arrived
    ms.push(performance.now() - startedAt)
    await sleep(150 * Math.random()) // not in step with the loop that looks
  }
  return ms
}

/** The same until a wall in Chromium shows it: the stream says so, and the page asks for it. */
async function timeInBrowser(server: Running, keys: Issued['live'], offers: number[], expiresAtS: number) {
  const browser = await chromium.launch({ executablePath: process.env['CHROMIUM'] ?? '/usr/bin/chromium', args: ARGS })
  try {
    const page = await browser.newPage()
    let onShown = () => {}
    await page.exposeFunction('shown', () => onShown())
    const query = new URLSearchParams(signedQuery(keys, 'browser-1', expiresAtS))
    await page.goto(`http://127.0.0.1:${server.port}/wall?${query.toString()}`)
    await page.getByRole('button', { name: 'My activity' }).click()
    await page.getByText('Nothing here yet').waitFor()
    await page.evaluate(
      `new MutationObserver(() => shown()).observe(document.querySelector('main'), { childList: true, subtree: true })`,
    )
    return await timeReports(server, keys, offers, () => ({ userId: 'browser-1', arrived: new Promise<void>((resolve) => (onShown = resolve)) })) // prettier-ignore
  } finally {
    await browser.close()
  }
}

function follow(
  { port }: Running,
  keys: Issued['live'],
  userId: string,
  expiresAtS: number,
  heard: Map<string, () => void>,
) {
  const query = new URLSearchParams(signedQuery(keys, userId, expiresAtS))
  const headers = { 'X-Forwarded-For': addressOf(userId) }
  return new Promise<() => void>((resolve, reject) => {
    const request = get({ host: '127.0.0.1', port, path: `/wall/v1/live?${query.toString()}`, headers, agent: false }, (response) => {
      if (response.statusCode !== 200) return reject(new Error(`A stream was refused: ${response.statusCode}`))
      response.setEncoding('utf8').on('data', (text: string) => text.includes('activity') && heard.get(userId)?.())
      response.on('error', () => {})
      resolve(() => request.destroy())
    }) // prettier-ignore
    request.on('error', reject)
  })
}

function signedQuery({ api_key: apiKey, signing_secret }: Issued['live'], userId: string, expiresAtS: number) {
  return { apiKey, userId, exp: String(expiresAtS), sig: signUser(signing_secret, { apiKey, userId, expiresAtS }) }
}

const addressOf = (userId: string) => {
  const n = Number(userId.replace(/\D/g, ''))
  return `10.1.${Math.floor(n / 250)}.${(n % 250) + 1}`
}

async function report({ port }: Running, keys: Issued['live'], userId: string, offerId: number): Promise<void> {
  const answer = await fetch(`http://127.0.0.1:${port}/v1/conversions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-api-key': keys.api_key, 'x-api-secret': keys.api_secret },
    body: JSON.stringify({ userId, offerId }),
  })
  if (!answer.ok) throw new Error(`A report was refused: ${await answer.text()}`)
}

/** What was measured in words, for the report. */
export const describeLive = ({ ms, browserMs, kilobytesPerStream, open }: WallMeasured['live']) =>
  `${open.toLocaleString('en')} streams open: until it is shown ${describeTimes(browserMs)}, until a stream says so ${describeTimes(ms)}; ${kilobytesPerStream.toFixed(0)} kB each, ${((kilobytesPerStream * 1000) / 1024).toFixed(0)} MB a thousand`

const describeTimes = (ms: number[]) =>
  `median ${median(ms).toFixed(0)} ms, slowest ${Math.max(...ms).toFixed(0)} ms of ${ms.length}`
