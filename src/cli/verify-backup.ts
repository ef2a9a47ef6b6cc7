// Whether a backup is good for anything: it is restored into a folder of its own, started and checked.
import { chmodSync, mkdtempSync, readdirSync, readFileSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { restoreBackup } from '../db/backup/restore.ts'
import { locateCluster } from '../db/cluster.ts'
import { createDataDir } from '../db/embedded.ts'
import { migrate } from '../db/migrate.ts'
import { type Database, openDatabase } from '../db/open.ts'
import { OperatorError } from '../errors.ts'
import { findKeyProblem } from '../features/accounts/secret-keys.ts'
import { checkLedger, countLedger } from '../features/ledger/check.ts'

const PREFIX = 'verifying-'

export type Verified = { version: string; made_at: string; conversions: number; postings: number }

/**
 * In the data folder: there is room for a database, and the user who runs it can enter. Removes what one that was ended
 * has left there: only one is verified at a time.
 */
export async function verifyBackup(file: string, passphrase: string, dataDir: string): Promise<Verified> {
  createDataDir(dataDir)
  await Promise.all(readdirSync(dataDir).filter((name) => name.startsWith(PREFIX)).map((name) => remove(join(dataDir, name)))) // prettier-ignore
  const folder = mkdtempSync(join(dataDir, PREFIX))
  chmodSync(folder, 0o755)
  try {
    const { version, made_at } = await restoreBackup(file, passphrase, folder)
    const database = await openDatabase({ databaseUrl: null, dataDir: folder, connections: 2 })
    try {
      await migrate(database)
      const counts = await checkRestored(database, readFileSync(join(folder, 'secret-key'), 'utf8').trim())
      return { version, made_at, ...counts }
    } finally {
      await database.close()
    }
  } finally {
    await remove(folder)
  }
}

async function remove(folder: string): Promise<void> {
  await rm((await locateCluster(folder)).home, { recursive: true, force: true }) // it may be elsewhere
  await rm(folder, { recursive: true, force: true })
}

/** Throws what is wrong with it. */
export async function checkRestored(
  database: Database,
  secretKey: string,
): Promise<{ conversions: number; postings: number }> {
  const problem = await findKeyProblem(database.db, secretKey)
  if (problem !== null) throw new OperatorError(`The database does not belong to the secret key beside it: ${problem}`)
  const [wrong] = await checkLedger(database)
  if (wrong !== undefined) throw new OperatorError(`The ledger is wrong: ${wrong.examples[0] ?? wrong.kind}`)
  return countLedger(database)
}
