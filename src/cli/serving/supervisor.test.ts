import assert from 'node:assert/strict'
import { fileURLToPath } from 'node:url'
import { test, type TestContext } from 'node:test'
import { childrenOf } from '../../../test/child-processes.ts'
import { until } from '../../../test/installation.ts'
import { createLog } from '../log.ts'
import { nextWait, Supervisor } from './supervisor.ts'

const PROGRAM = fileURLToPath(new URL('../../../test/supervised-process.ts', import.meta.url))

/** One process of a supervisor in this one. */
async function supervise(t: TestContext, program = [PROGRAM], pingMs = 5_000) {
  const lines: string[] = []
  const log = createLog('info', { write: (line) => lines.push(line) })
  const supervisor = new Supervisor({ log, demoSite: null, readFigures: null, program, pingMs })
  const others = childrenOf(process.pid)
  t.after(() => supervisor.stop('worker', false))
  await supervisor.start([{ part: 'worker', name: 'worker' }])
  const pid = () => childrenOf(process.pid).find((child) => !others.includes(child))
  const isThere = async () => (await supervisor.collect()).length === 1
  return { supervisor, lines, pid, isThere }
}

test('the wait doubles up to half a minute, and starts again after one that ran for a minute', () => {
  const waits: number[] = []
  for (const ranMs of [0, 10, 59_000, 0, 0, 0, 0, 0, 61_000, 0]) waits.push(nextWait(waits.at(-1) ?? 0, ranMs))
  assert.deepEqual(waits, [500, 1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000, 500, 1_000])
})

test('one that cannot be started is tried again, and a stop does not wait for it', async (t) => {
  const program = [PROGRAM]
  const { supervisor, lines, pid, isThere } = await supervise(t, program)
  const tooLong = 'x'.repeat(1_000_000) // no argument may be so long
  program.push(tooLong)
  process.kill(pid() ?? 0, 'SIGKILL')
  await until(() => lines.length === 2)
  assert.match(lines[0] ?? '', /the process \\"worker\\" ended by SIGKILL; it is started again in 0\.5 s/)
  assert.match(lines[1] ?? '', /the process \\"worker\\" could not start \(.*E2BIG.*\); it is started again in 1 s/)
  program.pop()
  await until(isThere)
  program.push(tooLong)
  process.kill(pid() ?? 0, 'SIGKILL')
  await until(() => lines.length === 4)
  await supervisor.stop('worker', false)
  assert.equal(pid(), undefined)
})

test('one that is frozen is killed and replaced, and none because the supervisor was frozen', async (t) => {
  const { supervisor, lines, pid, isThere } = await supervise(t, [PROGRAM], 500)
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 5_000)
  assert.ok(await isThere())
  assert.equal(supervisor.restarts, 0)
  const frozen = pid() ?? 0
  process.kill(frozen, 'SIGSTOP')
  await until(async () => supervisor.restarts === 1 && (await isThere()))
  assert.notEqual(pid(), frozen)
  assert.match(lines[0] ?? '', /the process \\"worker\\" does not answer any more, and is killed/)
})

test('one that freezes while it loads is replaced as well', async (t) => {
  const { supervisor, lines, pid, isThere } = await supervise(t, [PROGRAM], 500)
  process.kill(pid() ?? 0, 'SIGKILL')
  await until(() => supervisor.restarts === 1 && pid() !== undefined)
  process.kill(pid() ?? 0, 'SIGSTOP')
  await until(async () => supervisor.restarts === 2 && (await isThere()))
  assert.match(lines[1] ?? '', /the process \\"worker\\" does not answer any more, and is killed/)
  assert.match(lines[2] ?? '', /could not start \(The process .*worker.* ended by SIGKILL while it started\.\)/)
})
