import { Command, Option } from 'commander'
import { invitationUrl, invite } from '../features/accounts/invitations.ts'
import { findPersonByEmail, isOperatorRole, listEverybody, type Role, ROLES } from '../features/accounts/people.ts'
import { findPublisher } from '../features/accounts/publishers.ts'
import { makeResetLink } from '../features/accounts/reset-links.ts'
import { OperatorError } from '../errors.ts'
import { withDatabase } from './context.ts'
import { type OutputOptions, show, table } from './output.ts'

type CreateOptions = OutputOptions & { email: string; role: Role; publisher?: string }

export const userCommand = () =>
  new Command('user')
    .description('people who sign in to the dashboard')
    .addCommand(
      new Command('create')
        .description('invite somebody: prints a link that lets them make their account, once')
        .requiredOption('--email <address>', 'e-mail address')
        .addOption(new Option('--role <role>', 'what they may do').choices(ROLES).makeOptionMandatory())
        .option('--publisher <name>', 'whose people they belong to (for the publisher roles)')
        .action(create),
    )
    .addCommand(
      new Command('reset-password')
        .description('print a link that lets somebody set a new password, within the hour')
        .argument('<email>', 'e-mail address')
        .action(resetPassword),
    )
    .addCommand(
      new Command('list').description('list everybody').action(async (options: OutputOptions) => {
        const people = await withDatabase(({ database }) => listEverybody(database.db))
        show(options, people, () =>
          table(people, 'There is nobody yet. The server prints a set-up link when it starts.'),
        )
      }),
    )

async function create(options: CreateOptions): Promise<void> {
  const { email, role, publisher } = options
  if (isOperatorRole(role) !== (publisher === undefined))
    throw new OperatorError('--publisher is for the publisher roles, and required there.')
  const issued = await withDatabase(async ({ config, database: { db }, secretKey }) => {
    if ((await findPersonByEmail(db, email)) !== null)
      throw new OperatorError(`Somebody has the e-mail address "${email}" already.`)
    const publisherId = publisher === undefined ? null : (await findPublisher(db, publisher)).publisher_id
    const { token, expires_at } = await db
      .transaction()
      .execute((trx) => invite(trx, secretKey, { email, role, publisherId, invitedBy: null }, new Date()))
    return { email, role, url: invitationUrl(config.publicUrl, token), expires_at }
  })
  show(options, issued, ({ url }) => `Send this link to ${email}. It works once, for a week:\n${url}`)
}

async function resetPassword(email: string, options: OutputOptions): Promise<void> {
  const issued = await withDatabase(async ({ config: { publicUrl }, database: { db }, secretKey }) => {
    const person = await findPersonByEmail(db, email)
    if (person === null) throw new OperatorError(`Nobody has the e-mail address "${email}".`)
    const url = await makeResetLink(db, secretKey, { publicUrl, personId: person.id }, new Date())
    return { email: person.email, url }
  })
  show(options, issued, ({ url }) => `Send this link to ${issued.email}. It works once, within the hour:\n${url}`)
}
