// Backups on a schedule. Each is made by the command of the command line, in a process of its own: compressing and
// encrypting would keep this one from its work. It has the same settings.
import { type ChildProcess, spawn } from 'node:child_process'
import { join } from 'node:path'
import type { Config } from '../../config.ts'
import { tryFileLock } from '../../lib/file-lock.ts'
import { projectPath } from '../../lib/project.ts'
import { type Backup, findLastBackup } from './backup.ts'

const HOUR_MS = 3_600_000

export type BackupSchedule = {
  /** Makes one if it is time. Throws why there is none, until there is. */
  run(): Promise<void>
  /** Ends one that is under way. */
  close(): void
}

/** Null where no backups are wanted. */
export function createBackupSchedule(config: Config): BackupSchedule | null {
  const { backupDir, backupHours, dataDir } = config
  if (backupDir === null) return null
  let child: ChildProcess | null = null
  let failed: { error: Error; until: number } | null = null

  const isDue = (now = new Date()) => ageMs(findLastBackup(backupDir, now), now) >= backupHours * HOUR_MS

  async function make(): Promise<void> {
    const args = [projectPath('bin/offerdeck.js'), 'backup', 'create', '--keep', String(config.backupKeep)]
    const started = spawn(process.execPath, args, { stdio: ['ignore', 'ignore', 'pipe'] })
    child = started
    try {
      await ended(started)
    } finally {
      child = null
    }
  }

  return {
    async run() {
      if (failed !== null && performance.now() < failed.until) throw failed.error
      const release = tryFileLock(join(dataDir, 'backup-schedule.lock'))
      if (release === null) return // another worker is at it
      try {
        if (isDue()) await make()
        failed = null
      } catch (error) {
        failed = { error: error as Error, until: performance.now() + HOUR_MS }
        throw error
      } finally {
        release()
      }
    },
    close: () => void child?.kill(),
  }
}

const ageMs = (backup: Backup | null, now: Date) => now.getTime() - (backup?.madeAt.getTime() ?? 0)

/** Late: as long again has passed without one. Null where no backups are wanted. */
export function readSchedule({ backupDir, backupHours }: Config, now: Date) {
  if (backupDir === null) return null
  const last = findLastBackup(backupDir, now)
  const is_late = ageMs(last, now) > 2 * backupHours * HOUR_MS
  return { last_at: last?.madeAt ?? null, last_bytes: last?.bytes ?? null, is_late }
}

function ended(child: ChildProcess): Promise<void> {
  let said = ''
  child.stderr?.setEncoding('utf8').on('data', (text: string) => (said = (said + text).slice(-2_000)))
  return new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (status) => (status === 0 ? resolve() : reject(new Error(said.trim() || 'it was ended'))))
  })
}
