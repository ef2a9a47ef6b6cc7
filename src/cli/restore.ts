import { resolve } from 'node:path'
import { Command } from 'commander'
import { loadConfig } from '../config.ts'
import { restoreBackup } from '../db/backup/restore.ts'
import { fields, type OutputOptions, show } from './output.ts'
import { passphraseOption, type PassphraseOptions, readPassphrase } from './passphrase.ts'
import { refuseExternal } from './backup.ts'
import { withRecord } from './context.ts'
import { terminal } from './terminal.ts'
import { checkRestored } from './verify-backup.ts'

export const restoreCommand = () =>
  new Command('restore')
    .argument('<file>', 'the backup')
    .addOption(passphraseOption())
    .action(async (file: string, options: OutputOptions & PassphraseOptions) => {
      const config = loadConfig(terminal().env)
      refuseExternal(config)
      const { version, made_at } = await restoreBackup(resolve(file), readPassphrase(config, options), config.dataDir)
      const counts = await withRecord(({ database, secretKey }) => checkRestored(database, secretKey))
      const restored = { version, made_at, data_dir: config.dataDir, ...counts }
      show(
        options,
        restored,
        () => `Restored. Changes made after the backup are gone. Start the server.\n${fields(restored)}`,
      )
    })
