import { Command } from 'commander'
import { createAdvertiser, listAdvertisers } from '../features/accounts/advertisers.ts'
import { withDatabase } from './context.ts'
import { type OutputOptions, show, table } from './output.ts'

export const advertiserCommand = () =>
  new Command('advertiser')
    .description('advertisers: companies that own offers')
    .addCommand(
      new Command('create')
        .description('make an advertiser')
        .requiredOption('--name <name>', 'name, unique among advertisers')
        .action(async (options: OutputOptions & { name: string }) => {
          const advertiser = await withDatabase(({ database }) => createAdvertiser(database.db, options.name))
          show(
            options,
            advertiser,
            () =>
              `Made advertiser ${advertiser.advertiser_id}, "${advertiser.name}".\nNext: offerdeck offer import FILE`,
          )
        }),
    )
    .addCommand(
      new Command('list').description('list advertisers').action(async (options: OutputOptions) => {
        const advertisers = await withDatabase(({ database }) => listAdvertisers(database.db))
        show(options, advertisers, () =>
          table(advertisers, 'There are no advertisers yet. Make one with: offerdeck advertiser create --name NAME'),
        )
      }),
    )
