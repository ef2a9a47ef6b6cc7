import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'

/** Resolves when it has ended. */
export async function endProcess(child: ChildProcess, signal: NodeJS.Signals = 'SIGKILL'): Promise<void> {
  child.kill(signal)
  if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
}
