// A process of the pool: asks for a file, runs its tests, and asks for the next.
import { registerHooks } from 'node:module'
import { join } from 'node:path'
import { runTests } from './harness.ts'

export type Failure = { file: string; name: string; error: string }
export type FromWorker =
  | { kind: 'ready' }
  | { kind: 'passed' }
  | { kind: 'failed'; failure: Failure }
  | { kind: 'done'; file: string; wall: number; cpu: number }

const HARNESS = new URL('harness.ts', import.meta.url).href
const send = (message: FromWorker) => process.send?.(message)

registerHooks({
  resolve: (name, context, next) =>
    name === 'node:test' && context.parentURL !== HARNESS
      ? { url: HARNESS, shortCircuit: true, format: 'module-typescript' }
      : next(name, context),
})
process.on('message', (message: { file: string; timeoutMs: number }) => void runFile(message))
// When everything is reported. A test may have left a connection behind, which would keep the process alive.
process.on('disconnect', () => process.exit())
send({ kind: 'ready' })

async function runFile({ file, timeoutMs }: { file: string; timeoutMs: number }): Promise<void> {
  const startedMs = performance.now()
  const cpu = process.cpuUsage()
  await runTests(join(process.cwd(), file), timeoutMs, {
    passed: () => send({ kind: 'passed' }),
    failed: (failure) => send({ kind: 'failed', failure: { ...failure, file } }),
  })
  const { user, system } = process.cpuUsage(cpu)
  send({ kind: 'done', file, wall: (performance.now() - startedMs) / 1e3, cpu: (user + system) / 1e6 })
  send({ kind: 'ready' })
}
