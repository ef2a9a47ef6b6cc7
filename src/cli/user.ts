import { Command, Option } from 'commander'
import { type Db, inTransaction } from '../db/open.ts'
import { invitationUrl, invite } from '../features/accounts/invitations.ts'
import { endSessionsOf } from '../features/accounts/passwords.ts'
import {
  findPersonByEmail,
  isOperatorRole,
  listEverybody,
  type Person,
  type Role,
  ROLES,
} from '../features/accounts/people.ts'
import { findPublisher } from '../features/accounts/publishers.ts'
import { makeResetLink } from '../features/accounts/reset-links.ts'
import { removeSecondFactor } from '../features/accounts/second-factor.ts'
import { OperatorError } from '../errors.ts'
import { withChange, withDatabase } from './context.ts'
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
      new Command('reset-two-factor')
        .description('remove the second factor of somebody who lost it, and sign them out everywhere')
        .argument('<email>', 'e-mail address')
        .action(resetTwoFactor),
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
  const issued = await withChange(async ({ config, database: { db }, secretKey }) => {
    if ((await findPersonByEmail(db, email)) !== null)
      throw new OperatorError(`Somebody has the e-mail address "${email}" already.`)
    const publisherId = publisher === undefined ? null : (await findPublisher(db, publisher)).publisher_id
    const wanted = { email, role, publisherId, invitedBy: null }
    const { token, expires_at } = await inTransaction(db, (trx) => invite(trx, secretKey, wanted, new Date()))
    return { email, role, url: invitationUrl(config.publicUrl, token), expires_at }
  })
  show(options, issued, ({ url }) => `Send this link to ${email}. It works once, for a week:\n${url}`)
}

async function resetPassword(email: string, options: OutputOptions): Promise<void> {
  const issued = await withChange(async ({ config: { publicUrl }, database: { db }, secretKey }) => {
    const person = await findKnown(db, email)
    const url = await makeResetLink(db, secretKey, { publicUrl, personId: person.id }, new Date())
    return { email: person.email, url }
  })
  show(options, issued, ({ url }) => `Send this link to ${issued.email}. It works once, within the hour:\n${url}`)
}

async function resetTwoFactor(email: string, options: OutputOptions): Promise<void> {
  const person = await withChange(async ({ database: { db } }) => {
    const known = await findKnown(db, email)
    await inTransaction(db, async (trx) => {
      if (!(await removeSecondFactor(trx, known.id))) throw new OperatorError(`${known.email} has no second factor.`)
      await endSessionsOf(trx, known.id, null)
    })
    return { email: known.email }
  })
  show(options, person, () => `${person.email} signs in with the password alone now, and should set up a new one.`)
}

async function findKnown(db: Db, email: string): Promise<Person> {
  const person = await findPersonByEmail(db, email)
  if (person === null) throw new OperatorError(`Nobody has the e-mail address "${email}".`)
  return person
}
