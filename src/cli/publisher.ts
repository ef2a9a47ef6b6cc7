import { Command } from 'commander'
import { createPublisher, listPublishers } from '../features/accounts/publishers.ts'
import { withDatabase } from './context.ts'
import { type OutputOptions, show, table } from './output.ts'

export const publisherCommand = () =>
  new Command('publisher')
    .description('publishers: companies that show offers to their users')
    .addCommand(
      new Command('create')
        .description('make a publisher')
        .requiredOption('--name <name>', 'name, unique among publishers')
        .action(async (options: OutputOptions & { name: string }) => {
          const publisher = await withDatabase(({ database }) => createPublisher(database.db, options.name))
          show(
            options,
            publisher,
            () =>
              `Made publisher ${publisher.publisher_id}, "${publisher.name}".\nNext: offerdeck app create --publisher "${publisher.name}" --name "My app"`,
          )
        }),
    )
    .addCommand(
      new Command('list').description('list publishers').action(async (options: OutputOptions) => {
        const publishers = await withDatabase(({ database }) => listPublishers(database.db))
        show(options, publishers, () =>
          table(publishers, 'There are no publishers yet. Make one with: offerdeck publisher create --name NAME'),
        )
      }),
    )
