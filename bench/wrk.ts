// Load, by wrk: one thread, 32 connections where nothing else is said, over the loopback.
import { spawn } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Catalogue, FILTERS, FOLDER } from './data.ts'
import { ensureProgram } from './programs.ts'
import { type Comparison, type Lap, type Plan, takeTurns } from './rounds.ts'
import type { Running } from './servers.ts'

export const CONNECTIONS = 32
const FILTERS_FILE = join(FOLDER, 'filters.txt')

/** What requests are like; load.lua says what the kinds mean. */
export type Kind = ListKind | 'click' | 'report' | 'wall' | 'token'
export type ListKind = 'list' | 'new'

/** `lines` is the file that load.lua reads its requests from. */
export type Load = { kind: Kind; lines: string; apiKey: string; apiSecret: string; connections?: number }

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
  ensureProgram('wrk', 'wrk')
}

/** Lists with every filter. */
export const listLoad = ({ apiKey, apiSecret }: Catalogue): Load => ({ kind: 'list', lines: FILTERS_FILE, apiKey, apiSecret }) // prettier-ignore

/** Two servers under the same lists. */
export function compareLists(
  first: Running,
  second: Running,
  kind: ListKind,
  catalogue: Catalogue,
  plan: Plan,
): Promise<Comparison> {
  const load = { ...listLoad(catalogue), kind }
  return takeTurns(
    (seconds) => runLap(first, load, seconds),
    (seconds) => runLap(second, load, seconds),
    plan,
  )
}

let runs = Math.floor(Date.now() / 1000) * 100 // so that users are new in every run of the program, too

/** `databaseCpu` returns the CPU time that the server's database has used so far. */
export async function runLap(
  server: Running,
  { kind, lines, apiKey, apiSecret, connections = CONNECTIONS }: Load,
  seconds: number,
  databaseCpu: () => number = () => 0,
): Promise<Lap> {
  const cpuBefore = server.cpuSeconds()
  const databaseBefore = databaseCpu()
  const report = await runWrk(server.port, connections, seconds, [lines, kind, apiKey, apiSecret, String(runs++)])
  const cpuSeconds = server.cpuSeconds() - cpuBefore
  const databaseSeconds = databaseCpu() - databaseBefore
  return {
    requestsPerSecond: report.requests / (report.micros / 1e6),
    cpuMicrosPerRequest: (cpuSeconds * 1e6) / report.requests,
    databaseMicrosPerRequest: (databaseSeconds * 1e6) / report.requests,
    bytesPerRequest: report.bytes / report.requests,
    p50Ms: report.p50Micros / 1000,
    p99Ms: report.p99Micros / 1000,
    answers: report.requests - report.refused,
    refused: report.refused,
    broken: report.broken,
  }
}

function runWrk(port: number, connections: number, seconds: number, args: string[]): Promise<WrkReport> {
  const script = join(import.meta.dirname, 'load.lua')
  const options = ['-t1', `-c${connections}`, `-d${seconds}s`, '-s', script, `http://127.0.0.1:${port}/`]
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
