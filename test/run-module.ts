import { type ChildProcessByStdio, spawn } from 'node:child_process'
import { once } from 'node:events'
import type { Readable } from 'node:stream'

export type RunningModule = ChildProcessByStdio<null, Readable, null> & { output(): Promise<string> }

/** Runs the text of a module in a process of its own; what it imports from './x.ts' is looked for beside `base`. */
export function runModule(code: string, base: string, env: Record<string, string> = {}): RunningModule {
  const source = code.replaceAll(/'(\.\/[\w-]+\.ts)'/g, (_, name: string) => `'${new URL(name, base).href}'`)
  const child = spawn(process.execPath, ['--input-type=module', '-e', source], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, ...env },
  })
  const chunks: string[] = []
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => chunks.push(chunk))
  const closed = once(child, 'close')
  return Object.assign(child, { output: () => closed.then(() => chunks.join('')) })
}
