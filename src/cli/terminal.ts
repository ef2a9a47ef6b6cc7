// Where a command reads its settings and prints: the process it runs in, or whatever runs it inside of another one.
import { AsyncLocalStorage } from 'node:async_hooks'
import type { Writable } from 'node:stream'

export type Terminal = {
  env: NodeJS.ProcessEnv
  out: Writable
  err: Writable & { isTTY?: boolean }
  /** What the command ends with. */
  status: number
}

const PROCESS: Terminal = { env: process.env, out: process.stdout, err: process.stderr, status: 0 }
const current = new AsyncLocalStorage<Terminal>()

export const terminal = (): Terminal => current.getStore() ?? PROCESS

export const inTerminal = <T>(of: Terminal, work: () => Promise<T>): Promise<T> => current.run(of, work)

/** The command did what it could, and not all of it. */
export function failLater(): void {
  terminal().status = 1
}
