// A process of the pool: asks for a file, runs it as a suite, and asks for the next.
import { describe } from 'node:test'
import { join } from 'node:path'

export type Failure = { file: string; name: string; error: string }
export type FromWorker =
  | { kind: 'ready' }
  | { kind: 'passed' }
  | { kind: 'failed'; failure: Failure }
  | { kind: 'reported' }
  | { kind: 'done'; file: string; wall: number; cpu: number }

const send = (message: FromWorker) => process.send?.(message)

process.on('message', ({ file }: { file: string }) => void runFile(file))
// When everything is reported. A test may have left a connection behind, which would keep the process alive.
process.on('disconnect', () => process.exit())
send({ kind: 'ready' })

async function runFile(file: string): Promise<void> {
  const startedMs = performance.now()
  const cpu = process.cpuUsage()
  await describe(file, async () => {
    await import(join(process.cwd(), file))
  })
  const { user, system } = process.cpuUsage(cpu)
  send({ kind: 'done', file, wall: (performance.now() - startedMs) / 1e3, cpu: (user + system) / 1e6 })
  send({ kind: 'ready' })
}
