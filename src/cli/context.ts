// What commands have in common: configuration, the database, the secret key, and how they speak.
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { type Config, loadConfig } from '../config.ts'
import { createDataDir } from '../db/embedded.ts'
import { migrate, pendingMigrations } from '../db/migrate.ts'
import { type Database, openDatabase } from '../db/open.ts'
import { OperatorError } from '../errors.ts'
import type { Actor } from '../features/accounts/audit.ts'
import { useSecretKey } from '../features/accounts/secret-keys.ts'
import { keepSecretFile } from '../db/secret-file.ts'
import { joinKeys } from '../lib/keys.ts'
import { operator, recordCommand } from './audit.ts'
import { terminal } from './terminal.ts'

export type Context = {
  config: Config
  database: Database
  secretKey: string
  /** Whom the audit log names: the features record what they change. */
  by: Actor
}

/** All of it in one transaction. */
export function withChange<T>(work: (context: Context) => Promise<T>): Promise<T> {
  return withDatabase(({ database, ...context }) =>
    database.db.transaction().execute((trx) => work({ ...context, database: { ...database, db: trx } })),
  )
}

/**
 * For commands that have no counterpart in the dashboard, so that no feature records them. They are in the audit log
 * before they begin: none is missing there if it is cut short.
 */
export function withRecord<T>(work: (context: Context) => Promise<T>): Promise<T> {
  return withDatabase(async (context) => {
    await recordCommand(context.database.db)
    return work(context)
  })
}

/** Opens the database for one command and closes it again. Works beside a running server, on the same database. */
export async function withDatabase<T>(work: (context: Context) => Promise<T>): Promise<T> {
  const config = loadConfig(terminal().env)
  const secretKey = readSecretKey(config)
  const database = await openDatabase(config)
  try {
    if (database.embeddedIn !== null) await migrate(database)
    else if ((await pendingMigrations(database)).length > 0) {
      throw new OperatorError('The database schema is older than this version. Run: npx offerdeck migrate')
    }
    await useSecretKey(database.db, secretKey)
    return await work({ config, database, secretKey, by: operator() })
  } finally {
    await database.close()
  }
}

export function readSecretKey(config: Config): string {
  const older = config.oldSecretKey === null ? [] : [config.oldSecretKey]
  if (config.secretKey !== null) return joinKeys(config.secretKey, older)
  createDataDir(config.dataDir)
  return keepSecretFile(secretKeyFile(config))
}

const secretKeyFile = (config: Config) => join(config.dataDir, 'secret-key')

export function hasSecretKey(config: Config): boolean {
  return config.secretKey !== null || existsSync(secretKeyFile(config))
}
