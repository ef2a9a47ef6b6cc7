import { randomBytes } from 'node:crypto'
import { closeSync, existsSync, fsyncSync, linkSync, openSync, readFileSync, rmSync, writeSync } from 'node:fs'
import { OperatorError } from '../errors.ts'

/** The secret kept in `path`, readable by its owner only; created at the first call, atomically. */
export function keepSecretFile(path: string): string {
  if (existsSync(path)) return readSecret(path)
  const draft = `${path}.${process.pid}`
  const file = openSync(draft, 'w', 0o600)
  writeSync(file, `${randomBytes(32).toString('base64url')}\n`)
  fsyncSync(file)
  closeSync(file)
  try {
    linkSync(draft, path) // fails when another process was first, whose secret then counts
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  } finally {
    rmSync(draft)
  }
  return readSecret(path)
}

function readSecret(path: string): string {
  const secret = readFileSync(path, 'utf8').trim()
  if (secret.length >= 32) return secret
  throw new OperatorError(
    `${path} is empty or damaged. Restore it from a backup; without it what it protects cannot be used.`,
  )
}
