// The passphrase of backups: a setting, or a file of its own.
import { readFileSync } from 'node:fs'
import { Option } from 'commander'
import type { Config } from '../config.ts'
import { messageOf, OperatorError } from '../errors.ts'
import { UsageError } from './usage.ts'

export type PassphraseOptions = { passphraseFile?: string }

export const passphraseOption = () =>
  new Option('--passphrase-file <file>', 'file with the passphrase (default: BACKUP_PASSPHRASE)')

export function readPassphrase({ backupPassphrase }: Config, { passphraseFile }: PassphraseOptions): string {
  const passphrase = passphraseFile === undefined ? backupPassphrase : readLine(passphraseFile)
  if (passphrase === null) throw new UsageError('Set BACKUP_PASSPHRASE, or add --passphrase-file.')
  return passphrase
}

function readLine(file: string): string {
  try {
    return readFileSync(file, 'utf8').trim()
  } catch (error) {
    throw new OperatorError(`Cannot read the passphrase: ${messageOf(error)}`)
  }
}
