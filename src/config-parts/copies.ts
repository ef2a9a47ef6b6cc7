// Copies of what the database has: backups of the embedded one, and exports for a warehouse.
import type { EnvReader } from '../lib/env-reader.ts'
import { readExportUrl } from '../lib/export-url.ts'

export type Backups = {
  /** Where backups of the embedded database go; null: none is made. */
  backupDir: string | null
  backupHours: number
  /** How many are kept. */
  backupKeep: number
  backupPassphrase: string | null
}

export type Exports = {
  /** A folder or a bucket, as a URL, that clicks and events are exported to; null: nothing is exported. */
  exportUrl: string | null
  exportIntervalSeconds: number
  /** Of S3-compatible storage. Null: Amazon's, in this region. */
  exportS3Endpoint: string | null
  exportS3Region: string
  exportS3AccessKeyId: string | null
  exportS3SecretAccessKey: string | null
}

export function readBackups(given: EnvReader, databaseUrl: string | null): Backups {
  const backupDir = given.path('BACKUP_DIR')
  const backupPassphrase = given.text('BACKUP_PASSPHRASE')
  if (backupDir !== null && databaseUrl !== null)
    given.problems.push('BACKUP_DIR is for the embedded database. With DATABASE_URL, back up that PostgreSQL with its own tools.') // prettier-ignore
  if (backupDir !== null && backupPassphrase === null) given.problems.push('BACKUP_DIR needs BACKUP_PASSPHRASE.')
  if (backupPassphrase !== null && backupPassphrase.length < 16)
    given.problems.push('BACKUP_PASSPHRASE must have at least 16 characters.')
  const backupHours = given.wholeNumber('BACKUP_HOURS', 24, 1, 720)
  return { backupDir, backupPassphrase, backupHours, backupKeep: given.wholeNumber('BACKUP_KEEP', 7, 1, 9_999) }
}

export function readExports(given: EnvReader): Exports {
  const { problems } = given
  const exportUrl = given.text('EXPORT_URL')
  if (exportUrl !== null && readExportUrl(exportUrl) === null)
    problems.push(
      'EXPORT_URL must name a folder, such as file:///var/exports, or a bucket, such as s3://bucket/prefix.',
    )
  const exportS3Endpoint = given.url('EXPORT_S3_ENDPOINT', ['http', 'https'])
  if (exportS3Endpoint !== null && (new URL(exportS3Endpoint).pathname !== '/' || /[?#@]/.test(exportS3Endpoint)))
    problems.push('EXPORT_S3_ENDPOINT must be scheme, host and port only, such as https://storage.example.com.')
  const exportS3Region = given.text('EXPORT_S3_REGION') ?? 'us-east-1'
  if (!/^[\w-]+$/.test(exportS3Region)) problems.push('EXPORT_S3_REGION must be a region, such as eu-central-1.')
  const exportS3AccessKeyId = given.text('EXPORT_S3_ACCESS_KEY_ID')
  const exportS3SecretAccessKey = given.text('EXPORT_S3_SECRET_ACCESS_KEY')
  if (exportUrl?.startsWith('s3:') && (exportS3AccessKeyId === null || exportS3SecretAccessKey === null))
    problems.push('EXPORT_S3_ACCESS_KEY_ID and EXPORT_S3_SECRET_ACCESS_KEY are required for s3://.')
  return {
    exportUrl,
    exportIntervalSeconds: given.wholeNumber('EXPORT_INTERVAL_SECONDS', 60, 5, 86_400),
    exportS3Endpoint: exportS3Endpoint === null ? null : new URL(exportS3Endpoint).origin,
    exportS3Region,
    exportS3AccessKeyId,
    exportS3SecretAccessKey,
  }
}
