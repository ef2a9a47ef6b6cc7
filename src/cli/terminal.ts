// Where a command reads its settings and prints: the process it runs in, or whatever runs it inside of another one.
import { AsyncLocalStorage } from 'node:async_hooks'
import type { Readable, Writable } from 'node:stream'
import type { Command } from 'commander'

type Output = Writable & { isTTY?: boolean; columns?: number }

export type Terminal = {
  env: NodeJS.ProcessEnv
  /** For questions. */
  input: Readable & { isTTY?: boolean }
  out: Output
  err: Output
  /** Print tables in full, however wide they get. */
  isWide?: boolean
  /** What the command ends with. */
  status: number
  /** What the person typed, until it is recorded. */
  command?: Command | undefined
}

const PROCESS: Terminal = {
  env: process.env,
  // Only a question opens it.
  get input() {
    return process.stdin
  },
  out: process.stdout,
  err: process.stderr,
  status: 0,
}
const current = new AsyncLocalStorage<Terminal>()

export const terminal = (): Terminal => current.getStore() ?? PROCESS

export const inTerminal = <T>(of: Terminal, work: () => Promise<T>): Promise<T> => current.run(of, work)

/** The command did what it could, and not all of it. */
export function failLater(): void {
  terminal().status = 1
}
