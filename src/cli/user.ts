import { Command, Option } from 'commander'
import { type Db, inTransaction } from '../db/open.ts'
import { invitationUrl, invite } from '../features/accounts/invitations.ts'
import {
  findPersonByEmail,
  isOperatorRole,
  listEverybody,
  type Person,
  type Role,
  ROLES,
} from '../features/accounts/people.ts'
import { issueResetLink } from '../features/accounts/reset-links.ts'
import { resetSecondFactor } from '../features/accounts/second-factor.ts'
import { OperatorError } from '../errors.ts'
import { confirm, type ConfirmOptions, yesOption } from './confirm.ts'
import { withChange, withDatabase } from './context.ts'
import { findAdvertiser, findPublisher } from './find.ts'
import { type OutputOptions, show, table } from './output.ts'
import { byOption, hint, UsageError } from './usage.ts'
import { eraseCommand, erasuresCommand, exportCommand } from './user-data.ts'

type CreateOptions = OutputOptions & { email: string; role: Role; publisher?: string; advertiser?: string }

export const userCommand = () =>
  new Command('user')
    .addCommand(
      new Command('create')
        .description('invite a user: prints a one-time link to create their account')
        .requiredOption('--email <address>', 'email address')
        .addOption(new Option('--role <role>', 'role of the user').choices(ROLES).makeOptionMandatory())
        .option('--publisher <publisher>', 'the publisher they belong to (required for publisher roles)')
        .option('--advertiser <advertiser>', 'the advertiser they belong to (required for the role advertiser)')
        .action(create),
    )
    .addCommand(
      new Command('reset-password')
        .description('print a link to set a new password, valid for one hour')
        .argument('<email>', 'email address')
        .action(resetPassword),
    )
    .addCommand(
      new Command('reset-two-factor')
        .description("remove a user's second factor and sign them out everywhere")
        .argument('<email>', 'email address')
        .addOption(yesOption())
        .action(resetTwoFactor),
    )
    .addCommand(
      new Command('list').description('list all users').action(async (options: OutputOptions) => {
        const people = await withDatabase(({ database }) => listEverybody(database.db))
        show(options, people, () =>
          table(people.map(summary), 'No users yet. The server prints a setup link when it starts.'),
        )
      }),
    )
    .addCommand(exportCommand())
    .addCommand(eraseCommand())
    .addCommand(erasuresCommand())

async function create(options: CreateOptions): Promise<void> {
  const { email, role, publisher, advertiser } = options
  const isOfPublisher = !isOperatorRole(role) && role !== 'advertiser'
  if (isOfPublisher !== (publisher !== undefined))
    throw new UsageError('--publisher is required for publisher roles and not allowed for others.')
  if ((role === 'advertiser') !== (advertiser !== undefined))
    throw new UsageError('--advertiser is required for the role advertiser and not allowed for others.')
  const issued = await byOption({ email: '--email' }, () =>
    withChange(async ({ config, database: { db }, secretKey, by }) => {
      if ((await findPersonByEmail(db, email)) !== null)
        throw new OperatorError(`A user with the email address "${email}" already exists.`)
      const publisherId = publisher === undefined ? null : (await findPublisher(db, publisher)).publisher_id
      const advertiserId = advertiser === undefined ? null : (await findAdvertiser(db, advertiser)).advertiser_id
      const wanted = { email, role, publisherId, advertiserId, invitedBy: null }
      const { token, expires_at } = await inTransaction(db, (trx) => invite(trx, by, secretKey, wanted, new Date()))
      return { email, role, url: invitationUrl(config.publicUrl, token), expires_at }
    }),
  )
  show(options, issued, ({ url }) => `Send this link to ${email}. It works once and expires in a week:\n${url}`)
}

async function resetPassword(email: string, options: OutputOptions): Promise<void> {
  const issued = await withChange(async ({ config: { publicUrl }, database: { db }, secretKey, by }) => {
    const person = await findKnown(db, email)
    const network = { secretKey, publicUrl }
    const url = await inTransaction(db, (trx) => issueResetLink(trx, by, network, person, new Date()))
    return { email: person.email, url }
  })
  show(options, issued, ({ url }) => `Send this link to ${issued.email}. It works once and expires in an hour:\n${url}`)
}

async function resetTwoFactor(email: string, options: OutputOptions & ConfirmOptions): Promise<void> {
  await confirm(`This removes the second factor of ${email} and signs them out everywhere.`, options)
  const person = await withChange(async ({ database: { db }, by }) => {
    const known = await findKnown(db, email)
    if (!(await inTransaction(db, (trx) => resetSecondFactor(trx, by, known))))
      throw new OperatorError(`${known.email} has no second factor.`)
    return { email: known.email }
  })
  show(
    options,
    person,
    () => `${person.email} now signs in with just the password and should set up a new second factor.`,
  )
}

async function findKnown(db: Db, email: string): Promise<Person> {
  const person = await byOption({ email: '<email>' }, () => findPersonByEmail(db, email))
  if (person === null)
    throw new OperatorError(`There is no user with the email address "${email}". List users with: ${hint('user list')}`)
  return person
}

/** The email address first: commands name a person by it. */
const summary = ({
  email,
  name,
  role,
  publisher_id,
  advertiser_id,
  two_factor_enabled,
  disabled_at,
  created_at,
}: Person) => ({
  email,
  name,
  role,
  publisher_id,
  advertiser_id,
  two_factor: two_factor_enabled ? 'on' : 'off',
  disabled_at,
  created_at,
})
