// Links go on working while the database does not answer.
import { setTimeout as wait } from 'node:timers/promises'
import { isUnavailable } from '../../db/pg-errors.ts'

const PATIENCE_MS = 1_000

/** What is read; `otherwise`, while the database is unavailable or slow. */
export async function readOr<T>(reading: Promise<T>, otherwise: T): Promise<T> {
  const patience = new AbortController()
  const waiting = wait(PATIENCE_MS, otherwise, { ref: false, signal: patience.signal }).catch(() => otherwise)
  const read = reading.catch((error: unknown) => {
    if (isUnavailable(error)) return otherwise
    throw error
  })
  const found = await Promise.race([read, waiting])
  patience.abort()
  return found
}
