// Whether copies of the data get where they should: backups and exports.
import { accessSync, constants, mkdirSync } from 'node:fs'
import type { Config } from '../config.ts'
import { messageOf } from '../errors.ts'
import { openTarget } from '../features/exports/open-target.ts'
import { inTime } from '../lib/in-time.ts'
import type { Finding } from './doctor-database.ts'

const PATIENCE_MS = 10_000
/** Stays there: a program that reads exports goes by the manifest. */
const TRIED = 'doctor.txt'

export function checkBackups({ backupDir, databaseUrl }: Config): Finding {
  const check = 'backups'
  if (backupDir === null) {
    const result = databaseUrl === null ? 'none: set BACKUP_DIR to create them' : 'not created here: the database is not embedded' // prettier-ignore
    return { check, ok: true, result }
  }
  try {
    mkdirSync(backupDir, { recursive: true, mode: 0o700 })
    accessSync(backupDir, constants.W_OK | constants.R_OK | constants.X_OK)
    return { check, ok: true, result: `${backupDir} is writable` }
  } catch (error) {
    const advice = `Give this user write access to ${backupDir}, or set BACKUP_DIR to another folder.`
    return { check, ok: false, result: messageOf(error), advice }
  }
}

export async function checkExport(config: Config): Promise<Finding> {
  const check = 'export'
  const target = openTarget(config)
  if (target === null) return { check, ok: true, result: 'not used: EXPORT_URL is not set' }
  try {
    await inTime(target.put(TRIED, Buffer.from('Written by "npx offerdeck doctor" to see that it can.\n')), PATIENCE_MS)
    return { check, ok: true, result: `${target.url} accepts files` }
  } catch (error) {
    const advice = target.url.startsWith('file:')
      ? 'Create the folder, or mount it, and give this user write access; or correct EXPORT_URL.'
      : 'Check EXPORT_URL and the EXPORT_S3 settings, that the bucket exists, and that the key is allowed to put objects.'
    return { check, ok: false, result: `cannot write to ${target.url}: ${messageOf(error)}`, advice }
  } finally {
    target.close()
  }
}
