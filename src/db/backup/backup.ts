// Backups of the embedded database, with the other files of the data folder: secret key, password of the database, spool,
// and what the demo knows.
import { existsSync, readdirSync, statSync } from 'node:fs'
import { mkdir, open, readdir, readFile, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { messageOf, OperatorError } from '../../errors.ts'
import { withFileLock } from '../../lib/file-lock.ts'
import { VERSION } from '../../lib/project.ts'
import { createDataDir, holdEmbeddedPostgres } from '../embedded.ts'
import { MAJOR } from '../postmaster.ts'
import { type OwnFile, writeArchive } from './archive.ts'
import { streamBaseBackup } from './base-backup.ts'

export const FACTS = 'backup.json'
export const FORMAT = 1

/** What a backup says of itself. */
export type BackupFacts = { format: number; version: string; postgres: string; made_at: string }

export type Backup = { file: string; madeAt: Date; bytes: number }

type Source = { dataDir: string; secretKey: string }

export const SECRET_KEY = 'secret-key'
const KEPT = /^(postgres-password|demo-.*)$/

const NAME = /^offerdeck-(\d{4})(\d\d)(\d\d)-(\d\d)(\d\d)(\d\d)\.tar\.zst\.age$/
/** A name that sorts by time. */
const nameAt = (at: Date) =>
  `offerdeck-${at.toISOString().slice(0, 19).replaceAll(/[-:]/g, '').replace('T', '-')}.tar.zst.age`

/** One at a time in each data folder, and none while one is verified. */
export const backingUp = <T>(dataDir: string, work: () => Promise<T>): Promise<T> => {
  createDataDir(dataDir)
  return withFileLock(join(dataDir, 'backup.lock'), work)
}

/** It gets its name when it is on disk, and `verify` has not thrown: what has one is good. */
export async function makeBackup<T>(
  source: Source,
  folder: string,
  passphrase: string,
  verify: (file: string) => Promise<T>,
): Promise<Backup & { verified: T }> {
  await mkdir(folder, { recursive: true, mode: 0o700 }).catch((error: unknown) => {
    throw new OperatorError(`Cannot write to ${folder}: ${messageOf(error)}`)
  })
  await removeUnfinished(folder)
  const madeAt = new Date()
  const file = join(folder, nameAt(madeAt))
  const draft = `${file}.part`
  try {
    await writeBackup(source, draft, passphrase, madeAt)
    const verified = await verify(draft)
    await rename(draft, file)
    await syncFolder(folder)
    return { file, madeAt, bytes: statSync(file).size, verified }
  } catch (error) {
    await rm(draft, { force: true })
    throw error
  }
}

async function writeBackup({ dataDir, secretKey }: Source, file: string, passphrase: string, at: Date): Promise<void> {
  const embedded = await holdEmbeddedPostgres(dataDir)
  try {
    const facts: BackupFacts = { format: FORMAT, version: VERSION, postgres: MAJOR, made_at: at.toISOString() }
    const own = [
      { name: FACTS, content: Buffer.from(`${JSON.stringify(facts, null, 2)}\n`) },
      { name: SECRET_KEY, content: Buffer.from(`${secretKey}\n`) }, // may come from the environment
      // Before the database: what is replayed meanwhile is in both, which does no harm.
      ...(await readFiles(dataDir)),
    ]
    await writeArchive(file, passphrase, own, await streamBaseBackup(embedded.superuserConnection))
  } finally {
    await embedded.release()
  }
}

async function syncFolder(path: string): Promise<void> {
  await using folder = await open(path)
  await folder.sync()
}

async function readFiles(dataDir: string): Promise<OwnFile[]> {
  const files: OwnFile[] = []
  const spooled = existsSync(join(dataDir, 'spool')) ? await readdir(join(dataDir, 'spool'), { recursive: true }) : []
  const names = [...(await readdir(dataDir)).filter((name) => KEPT.test(name)), ...spooled.map((name) => join('spool', name))] // prettier-ignore
  for (const name of names.filter((one) => !one.endsWith('.lock'))) {
    const content = await readFile(join(dataDir, name)).catch(unlessGone)
    if (content !== null) files.push({ name, content })
  }
  return files
}

/** null: it is a folder, or was replayed just now. */
function unlessGone(error: NodeJS.ErrnoException): null {
  if (error.code === 'EISDIR' || error.code === 'ENOENT') return null
  throw error
}

/** What a process that was ended has left. */
async function removeUnfinished(folder: string): Promise<void> {
  const names = await readdir(folder)
  for (const name of names) if (NAME.test(name.replace(/\.part$/, '')) && name.endsWith('.part')) await rm(join(folder, name)) // prettier-ignore
}

/** Newest first. Last those dated ahead of the clock: it was wrong when they were made, and they would stay the newest. */
export function listBackups(folder: string, now: Date): Backup[] {
  if (!existsSync(folder)) return []
  return readdirSync(folder)
    .flatMap((name) => {
      const [, year, month, day, hour, minute, second] = NAME.exec(name) ?? []
      if (year === undefined) return []
      const file = join(folder, name)
      const bytes = statSync(file, { throwIfNoEntry: false })?.size ?? 0
      return [{ file, madeAt: new Date(`${year}-${month}-${day}T${hour}:${minute}:${second}Z`), bytes }]
    })
    .toSorted((a, b) => Number(a.madeAt > now) - Number(b.madeAt > now) || b.madeAt.getTime() - a.madeAt.getTime())
}

/** Null: there is none, but for those dated ahead of the clock. */
export function findLastBackup(folder: string, now: Date): Backup | null {
  const [last] = listBackups(folder, now)
  return last === undefined || last.madeAt > now ? null : last
}

/** Deletes all but the newest ones; returns what it deleted. */
export async function dropOldBackups(folder: string, keep: number, now: Date): Promise<Backup[]> {
  const old = listBackups(folder, now).slice(keep)
  for (const { file } of old) await rm(file, { force: true })
  return old
}
