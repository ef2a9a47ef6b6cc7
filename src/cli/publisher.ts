import { Command } from 'commander'
import { createPublisher, listPublishers, setPublisherEmail } from '../features/accounts/publishers.ts'
import { withChange, withDatabase } from './context.ts'
import { permitCommand } from './publisher-permissions.ts'
import { type OutputOptions, readId, show, table } from './output.ts'

export const publisherCommand = () =>
  new Command('publisher')
    .description('publishers: companies that show offers to their users')
    .addCommand(
      new Command('create')
        .description('create a publisher')
        .requiredOption('--name <name>', 'name, unique among publishers')
        .option('--email <address>', 'email address for notices, such as paused postbacks')
        .action(async (options: OutputOptions & { name: string; email?: string }) => {
          const { name, email = null } = options
          const publisher = await withChange(({ database }) => createPublisher(database.db, name, email))
          show(
            options,
            publisher,
            () =>
              `Created publisher ${publisher.publisher_id}, "${publisher.name}".\nNext: offerdeck app create --publisher "${publisher.name}" --name "My app"`,
          )
        }),
    )
    .addCommand(
      new Command('set-email')
        .description('set the email address for notices')
        .argument('<id>', 'publisher_id')
        .argument('[address]', 'email address; leave out to stop emails')
        .action(async (id: string, address: string | undefined, options: OutputOptions) => {
          const email = address ?? null
          await withChange(({ database }) => setPublisherEmail(database.db, readId(id), email))
          show(options, { publisher_id: readId(id), email }, () =>
            email === null ? 'Notices are listed but not emailed.' : `Notices will be emailed to ${email}.`,
          )
        }),
    )
    .addCommand(permitCommand())
    .addCommand(
      new Command('list').description('list publishers').action(async (options: OutputOptions) => {
        const publishers = await withDatabase(({ database }) => listPublishers(database.db))
        show(options, publishers, () =>
          table(publishers, 'No publishers yet. Create one with: offerdeck publisher create --name NAME'),
        )
      }),
    )
