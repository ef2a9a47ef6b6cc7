import { setTimeout as sleep } from 'node:timers/promises'
import { DatabaseSync } from 'node:sqlite'

/**
 * Holds an exclusive lock on `path` while `work` runs. The lock is the kernel's (through SQLite's own locking), so it
 * vanishes with its process: a crash can leave the file behind, but never the lock.
 */
export async function withFileLock<T>(path: string, work: () => Promise<T>): Promise<T> {
  const lock = new DatabaseSync(path)
  try {
    lock.exec('PRAGMA busy_timeout = 0')
    for (;;) {
      try {
        lock.exec('BEGIN EXCLUSIVE')
        break
      } catch (error) {
        if (!String(error).includes('locked')) throw error
        await sleep(20)
      }
    }
    return await work()
  } finally {
    lock.close()
  }
}
