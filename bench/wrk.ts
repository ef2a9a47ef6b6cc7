// Load, by wrk: one thread, 32 connections, over the loopback; contenders in turn, compared round by round.
import { spawn, spawnSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Catalogue, FILTERS, FOLDER } from './data.ts'
import type { Running } from './servers.ts'

const CONNECTIONS = 32
const FILTERS_FILE = join(FOLDER, 'filters.txt')

/** What requests are like; load.lua says what the kinds mean. */
export type Kind = 'list' | 'new'

export type Plan = { warmUpSeconds: number; rounds: number; seconds: number }

/** One contender in one round. */
export type Lap = {
  requestsPerSecond: number
  cpuMicrosPerRequest: number
  bytesPerRequest: number
  p50Ms: number
  p99Ms: number
  /** Answered with a status of 400 or above. */
  refused: number
  /** Not answered: connection or timeout. */
  broken: number
}

export type Comparison = {
  /** Requests a second of the first over those of the second: median of the rounds. */
  throughput: number
  /** CPU time per request of the second over that of the first. Above 1 the first is cheaper. */
  cpu: number
  first: Lap
  second: Lap
  rounds: { first: Lap; second: Lap }[]
}

type WrkReport = {
  requests: number
  micros: number
  bytes: number
  refused: number
  broken: number
  p50Micros: number
  p99Micros: number
}

/** Makes sure that wrk is there. */
export function prepareWrk(): void {
  mkdirSync(FOLDER, { recursive: true, mode: 0o755 })
  writeFileSync(FILTERS_FILE, `${FILTERS.join('\n')}\n`)
  if (hasWrk()) return
  if (process.getuid?.() === 0)
    spawnSync('apt-get', ['install', '-y', 'wrk'], { stdio: ['ignore', 'ignore', 'inherit'] })
  if (!hasWrk()) throw new Error('wrk makes the load and is not installed. On Debian and Ubuntu: apt-get install wrk')
}

const hasWrk = () => spawnSync('wrk', ['--version']).error === undefined

export async function compare(
  first: Running,
  second: Running,
  kind: Kind,
  credentials: Catalogue,
  { warmUpSeconds, rounds: count, seconds }: Plan,
): Promise<Comparison> {
  await runLap(first, kind, credentials, warmUpSeconds)
  await runLap(second, kind, credentials, warmUpSeconds)
  const rounds: Comparison['rounds'] = []
  for (let round = 0; round < count; round++) {
    rounds.push({
      first: await runLap(first, kind, credentials, seconds),
      second: await runLap(second, kind, credentials, seconds),
    })
  }
  return {
    throughput: median(rounds.map((round) => round.first.requestsPerSecond / round.second.requestsPerSecond)),
    cpu: median(rounds.map((round) => round.second.cpuMicrosPerRequest / round.first.cpuMicrosPerRequest)),
    first: middleLap(rounds.map((round) => round.first)),
    second: middleLap(rounds.map((round) => round.second)),
    rounds,
  }
}

let runs = Math.floor(Date.now() / 1000) * 100 // so that users are new in every run of the program, too

async function runLap(server: Running, kind: Kind, { apiKey, apiSecret }: Catalogue, seconds: number): Promise<Lap> {
  const cpuBefore = server.cpuSeconds()
  const report = await runWrk(server.port, seconds, [FILTERS_FILE, kind, apiKey, apiSecret, String(runs++)])
  const cpuSeconds = server.cpuSeconds() - cpuBefore
  return {
    requestsPerSecond: report.requests / (report.micros / 1e6),
    cpuMicrosPerRequest: (cpuSeconds * 1e6) / report.requests,
    bytesPerRequest: report.bytes / report.requests,
    p50Ms: report.p50Micros / 1000,
    p99Ms: report.p99Micros / 1000,
    refused: report.refused,
    broken: report.broken,
  }
}

function runWrk(port: number, seconds: number, args: string[]): Promise<WrkReport> {
  const script = join(import.meta.dirname, 'load.lua')
  const options = ['-t1', `-c${CONNECTIONS}`, `-d${seconds}s`, '-s', script, `http://127.0.0.1:${port}/`]
  return new Promise((resolve, reject) => {
    const child = spawn('wrk', [...options, '--', ...args], { stdio: ['ignore', 'pipe', 'pipe'] })
    let output = ''
    child.stdout.setEncoding('utf8').on('data', (part: string) => (output += part))
    child.stderr.setEncoding('utf8').on('data', (part: string) => (output += part))
    child.on('error', reject)
    child.on('close', () => {
      const line = output.split('\n').find((text) => text.startsWith('{"requests"'))
      if (line === undefined) reject(new Error(`wrk gave no report:\n${output}`))
      else resolve(JSON.parse(line) as WrkReport)
    })
  })
}

export function median(values: number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  const middle = Math.floor(sorted.length / 2)
  const upper = sorted[middle] ?? Number.NaN
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? Number.NaN) + upper) / 2
}

/** The median of each value; of failures the sum, so that none is hidden. */
function middleLap(laps: Lap[]): Lap {
  const of = (name: keyof Lap) => median(laps.map((lap) => lap[name]))
  const sum = (name: keyof Lap) => laps.reduce((total, lap) => total + lap[name], 0)
  return {
    requestsPerSecond: of('requestsPerSecond'),
    cpuMicrosPerRequest: of('cpuMicrosPerRequest'),
    bytesPerRequest: of('bytesPerRequest'),
    p50Ms: of('p50Ms'),
    p99Ms: of('p99Ms'),
    refused: sum('refused'),
    broken: sum('broken'),
  }
}
