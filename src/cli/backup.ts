import { resolve } from 'node:path'
import { Command } from 'commander'
import { type Config, loadConfig } from '../config.ts'
import { backingUp, type Backup, dropOldBackups, listBackups, makeBackup } from '../db/backup/backup.ts'
import { openDatabase } from '../db/open.ts'
import { OperatorError } from '../errors.ts'
import { findKeyProblem } from '../features/accounts/secret-keys.ts'
import { recordCommand } from './audit.ts'
import { readSecretKey } from './context.ts'
import { fields, type OutputOptions, show, table } from './output.ts'
import { passphraseOption, type PassphraseOptions, readPassphrase } from './passphrase.ts'
import { terminal } from './terminal.ts'
import { UsageError } from './usage.ts'
import { verifyBackup } from './verify-backup.ts'

type FolderOptions = OutputOptions & { folder?: string }
type CreateOptions = FolderOptions & PassphraseOptions & { keep?: string; verify: boolean }

export const backupCommand = () =>
  new Command('backup')
    .addCommand(
      new Command('create')
        .description('back up the embedded database with its secret key, and verify the backup by restoring it')
        .option('--folder <folder>', 'folder to write the backup to (default: BACKUP_DIR)')
        .addOption(passphraseOption())
        .option('--keep <number>', 'then delete all but this many of the newest backups there (default: keep all)')
        .option('--no-verify', 'skip verification, which needs as much disk space as the database')
        .action(create),
    )
    .addCommand(
      new Command('list')
        .description('list backups, newest first')
        .option('--folder <folder>', 'folder with the backups (default: BACKUP_DIR)')
        .action((options: FolderOptions) => {
          const listed = listBackups(folderOf(loadConfig(terminal().env), options), new Date()).map(present)
          show(options, listed, () => table(listed, 'There are no backups.'))
        }),
    )
    .addCommand(
      new Command('verify')
        .description('restore a backup into a temporary folder, check it, and remove the folder')
        .argument('<file>', 'the backup')
        .addOption(passphraseOption())
        .action(async (file: string, options: OutputOptions & PassphraseOptions) => {
          const config = loadConfig(terminal().env)
          const { dataDir } = config
          const passphrase = readPassphrase(config, options)
          const verified = await backingUp(dataDir, () => verifyBackup(resolve(file), passphrase, dataDir))
          show(options, verified, () => `${file} can be restored.\n${fields(verified)}`)
        }),
    )

const present = ({ file, madeAt, bytes }: Backup) => ({ file, made_at: madeAt, bytes })

async function create(options: CreateOptions): Promise<void> {
  const config = loadConfig(terminal().env)
  refuseExternal(config)
  const keep = readKeep(options)
  const folder = folderOf(config, options)
  const passphrase = readPassphrase(config, options)
  const { dataDir } = config
  const source = { dataDir, secretKey: await findKey(config) }
  const verify = (file: string) => verifyBackup(file, passphrase, dataDir).catch(refuseBackup)
  const result = await backingUp(dataDir, async () => {
    const backup = await makeBackup(source, folder, passphrase, options.verify ? verify : async () => null)
    const deleted = keep === null ? [] : await dropOldBackups(folder, keep, new Date())
    return { ...present(backup), verified: backup.verified, deleted: deleted.map(({ file }) => file) }
  })
  show(options, result, ({ file, bytes, verified }) => {
    const size = `${Math.ceil(bytes / 1_000_000)} MB`
    const proof = verified === null ? 'It was not verified.' : `It was restored for a check: ${verified.conversions} conversions, and the ledger is correct.` // prettier-ignore
    return `${file} (${size}). ${proof} Only the passphrase can decrypt it: keep the passphrase elsewhere.`
  })
}

function refuseBackup(error: unknown): never {
  if (!(error instanceof OperatorError)) throw error
  throw new OperatorError(`${error.message} The backup failed verification and was deleted; --no-verify keeps one as it is.`) // prettier-ignore
}

export function refuseExternal({ databaseUrl }: Config): void {
  if (databaseUrl === null) return
  throw new OperatorError(
    'DATABASE_URL is set; this is for the embedded database. Use the tools of your PostgreSQL: see "Backup and restore" in docs/operations.md.',
  )
}

function folderOf({ backupDir }: Config, { folder }: FolderOptions): string {
  if (folder !== undefined) return resolve(folder)
  if (backupDir === null) throw new UsageError('Set BACKUP_DIR, or add --folder.')
  return backupDir
}

function readKeep({ keep }: CreateOptions): number | null {
  if (keep === undefined) return null
  if (!/^[1-9]\d{0,3}$/.test(keep)) throw new UsageError('--keep must be a whole number from 1 to 9999.')
  return Number(keep)
}

/** The database is left at the version it has: a backup is what one makes before an upgrade. */
async function findKey(config: Config): Promise<string> {
  const secretKey = readSecretKey(config)
  const database = await openDatabase(config)
  try {
    const problem = await findKeyProblem(database.db, secretKey)
    if (problem !== null) throw new OperatorError(problem)
    await recordCommand(database.db)
    return secretKey
  } finally {
    await database.close()
  }
}
