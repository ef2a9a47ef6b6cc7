import { Command } from 'commander'
import { createPublisher, listPublishers, setPublisherEmail } from '../features/accounts/publishers.ts'
import { withChange, withDatabase } from './context.ts'
import { applicationsCommand, approveCommand, refuseCommand } from './publisher-applications.ts'
import { permitCommand } from './publisher-permissions.ts'
import { findPublisher } from './find.ts'
import { type OutputOptions, show, table } from './output.ts'
import { byOption, hint } from './usage.ts'

export const publisherCommand = () =>
  new Command('publisher')
    .addCommand(
      new Command('create')
        .description('create a publisher')
        .requiredOption('--name <name>', 'name, unique among publishers')
        .option('--email <address>', 'email address for notices, such as paused postbacks')
        .action(async (options: OutputOptions & { name: string; email?: string }) => {
          const { name, email = null } = options
          const publisher = await byOption({ email: '--email' }, () =>
            withChange(({ database, by }) => createPublisher(database.db, by, name, email)),
          )
          show(
            options,
            publisher,
            () =>
              `Created publisher ${publisher.publisher_id}, "${publisher.name}".\nNext: ${hint(`app create --publisher "${publisher.name}" --name "My app"`)}`,
          )
        }),
    )
    .addCommand(
      new Command('set-email')
        .description('set the email address for notices')
        .argument('<publisher>', 'ID or name')
        .argument('[address]', 'email address; leave out to stop emails')
        .action(async (named: string, address: string | undefined, options: OutputOptions) => {
          const email = address ?? null
          const { publisher_id } = await byOption({ email: '<address>' }, () =>
            withChange(async ({ database: { db }, by }) => {
              const publisher = await findPublisher(db, named)
              await setPublisherEmail(db, by, publisher.publisher_id, email)
              return publisher
            }),
          )
          show(options, { publisher_id, email }, () =>
            email === null ? 'Notices are listed but not emailed.' : `Notices will be emailed to ${email}.`,
          )
        }),
    )
    .addCommand(permitCommand())
    .addCommand(applicationsCommand())
    .addCommand(approveCommand())
    .addCommand(refuseCommand())
    .addCommand(
      new Command('list').description('list publishers').action(async (options: OutputOptions) => {
        const publishers = await withDatabase(({ database }) => listPublishers(database.db))
        show(options, publishers, () =>
          table(publishers, `No publishers yet. Create one with: ${hint('publisher create --name NAME')}`),
        )
      }),
    )
