// The load generator, as the measuring process sees it: steps of a constant rate, and what came of each.
import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { plainEnv } from '../data.ts'
import type { Kind, Load, Sources } from './requests.ts'

/** A step ends early when requests of more than `patienceSeconds` wait for a connection. */
export type LoadStep = { load: Load; rate: number; seconds: number; patienceSeconds: number }

type Times = { answers: number; p50Ms: number; p99Ms: number; maxMs: number }

/** Times count from when a request was to be sent. */
export type StepReport = Times & {
  planned: number
  elapsedSeconds: number
  /** Answers with another status than the one expected, by status. */
  unexpected: Record<number, number>
  /** Connections that ended before the answer. */
  broken: number
  /** Planned, and neither answered nor broken. */
  unanswered: number
  bytes: number
  /** Open at the end. */
  connections: number
  /** How much later than planned the generator was itself, before anything of the server's: part of the times above. */
  lateP99Ms: number
  generatorCpuShare: number
  kinds: Record<Kind, Times>
}

export type Generator = { run(step: LoadStep): Promise<StepReport>; stop(): Promise<void> }

export const failuresOf = ({ unexpected, broken, unanswered }: StepReport) =>
  Object.values(unexpected).reduce((sum, count) => sum + count, 0) + broken + unanswered

export function startGenerator(sources: Sources): Generator {
  const child = spawn(process.execPath, [join(import.meta.dirname, 'generator.ts'), JSON.stringify(sources)], {
    env: plainEnv({}),
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  const ended = new Promise<void>((done) => child.once('exit', () => done()))
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  return {
    async run(step) {
      child.stdin.write(`${JSON.stringify(step)}\n`)
      const { value, done } = await lines.next()
      if (done === true) throw new Error('The load generator has ended.')
      return JSON.parse(value) as StepReport
    },
    async stop() {
      child.stdin.end()
      await ended
    },
  }
}
