// Runs test files in a few processes, each file as a suite. Loading the app takes a process longer than most files take to
// run, so a process runs many files, one after the other. A process that crashes fails the file that it was running.
import { type ChildProcess, fork } from 'node:child_process'
import { globSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { globalSetup, globalTeardown } from '../../test/setup.ts'
import type { Failure, FromWorker } from './worker.ts'

type Totals = { passed: number; failures: Failure[]; seconds: { file: string; wall: number; cpu: number }[] }

/** All that match but those left out. Returns the exit code. */
export async function runFiles(
  patterns: readonly string[],
  left: readonly string[],
  timeoutMs: number,
): Promise<number> {
  const files = [...new Set(patterns.flatMap((pattern) => globSync(pattern, { exclude: left }).toSorted()))]
  const missing = patterns.filter((pattern) => globSync(pattern).length === 0)
  if (missing.length > 0) {
    console.error(`There is no test file ${missing.join(', ')}.`)
    return 1
  }
  const totals: Totals = { passed: 0, failures: [], seconds: [] }
  const startedMs = performance.now()
  await globalSetup()
  try {
    const workers = Math.min(availableParallelism() + 2, files.length)
    await Promise.all(Array.from({ length: workers }, () => work(files, totals, timeoutMs)))
  } finally {
    await globalTeardown()
  }
  printTotals(totals, performance.now() - startedMs)
  return totals.failures.length === 0 ? 0 : 1
}

/** Runs what is left of the files; starts over with a new process when one crashed. */
async function work(files: string[], totals: Totals, timeoutMs: number): Promise<void> {
  while (files.length > 0) {
    const crashedIn = await runProcess(files, totals, timeoutMs)
    if (crashedIn !== null)
      totals.failures.push({ file: crashedIn, name: 'the process crashed, or did not end in time', error: '' })
  }
}

/** Returns the file it was running when it crashed. */
function runProcess(files: string[], totals: Totals, timeoutMs: number): Promise<string | null> {
  const child: ChildProcess = fork(join(import.meta.dirname, 'worker.ts'), {
    execArgv: ['--max-semi-space-size=64'], // most of what tests create is gone soon: a tenth less CPU
  })
  let running: string | null = null
  let timer: NodeJS.Timeout | undefined
  const next = () => {
    clearTimeout(timer)
    running = files.shift() ?? null
    if (running === null) return child.disconnect()
    child.send({ file: running, timeoutMs })
    timer = setTimeout(() => child.kill('SIGKILL'), timeoutMs + 60_000)
  }
  child.on('message', (message: FromWorker) => {
    if (message.kind === 'ready') next()
    else if (message.kind === 'passed') totals.passed++
    else if (message.kind === 'failed') totals.failures.push(message.failure)
    else totals.seconds.push(message)
  })
  return new Promise((done) => child.once('exit', () => done(running)))
}

function printTotals({ passed, failures, seconds }: Totals, elapsedMs: number): void {
  const slowest = seconds.toSorted((a, b) => b.wall - a.wall).slice(0, 10)
  console.log(`\nSlowest files (seconds; of its process's CPU):`)
  for (const { file, wall, cpu } of slowest)
    console.log(`${wall.toFixed(1).padStart(7)} ${cpu.toFixed(1).padStart(6)}  ${file}`)
  for (const { file, name, error } of failures) console.log(`\n✖ ${file}: ${name}\n${error}`)
  console.log(`\n${passed} passed, ${failures.length} failed, ${(elapsedMs / 1000).toFixed(0)} s`)
}
