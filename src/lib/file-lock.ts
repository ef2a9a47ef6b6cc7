// Locks on files that are the kernel's (through SQLite's own locking), so that they vanish with their process: a crash
// can leave the file behind, but never the lock.
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as sleep } from 'node:timers/promises'

/** Takes the exclusive lock on `path`, if it is free; returns what lets go of it, or null. */
export function tryFileLock(path: string): (() => void) | null {
  const lock = new DatabaseSync(path)
  try {
    lock.exec('PRAGMA busy_timeout = 0')
    lock.exec('BEGIN EXCLUSIVE')
    return () => lock.close()
  } catch (error) {
    lock.close()
    if (String(error).includes('locked')) return null
    throw error
  }
}

/** Holds an exclusive lock on `path` while `work` runs. */
export async function withFileLock<T>(path: string, work: () => Promise<T>): Promise<T> {
  for (;;) {
    const release = tryFileLock(path)
    if (release !== null) {
      try {
        return await work()
      } finally {
        release()
      }
    }
    await sleep(20)
  }
}
