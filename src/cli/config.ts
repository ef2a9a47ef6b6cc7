import { Command } from 'commander'
import { describeConfig, loadConfig } from '../config.ts'
import { type OutputOptions, show, table } from './output.ts'

export const configCommand = () =>
  new Command('config')
    .description('print the settings in force, with secrets masked')
    .action((options: OutputOptions) => {
      const settings = describeConfig(loadConfig(process.env), process.env)
      show(options, settings, () =>
        table(
          settings.map(({ name, value, given }) => ({ setting: name, value, from: given ? 'environment' : 'default' })),
          '',
        ),
      )
    })
