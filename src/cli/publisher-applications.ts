// Publishers that signed up: who they are, and the decision.
import { Command, Option } from 'commander'
import {
  APPLICATION_STATUSES,
  type ApplicationStatus,
  listApplications,
  readApplication,
} from '../features/accounts/sign-up/applications.ts'
import { listAcceptedTerms } from '../features/accounts/sign-up/service-terms.ts'
import { type Decision, decideApplication } from '../features/apps/review.ts'
import { confirm, type ConfirmOptions, yesOption } from './confirm.ts'
import { withChange, withDatabase } from './context.ts'
import { findPublisher } from './find.ts'
import { fields, type OutputOptions, show, table } from './output.ts'

const MOST = 1_000

export const applicationsCommand = () =>
  new Command('applications')
    .description('list applications of publishers that signed up, or show one')
    .argument('[publisher]', 'ID or name')
    .addOption(new Option('--status <status>', 'only applications with this status').choices(APPLICATION_STATUSES))
    .action(async (named: string | undefined, options: OutputOptions & { status?: ApplicationStatus }) => {
      if (named !== undefined) return showOne(named, options)
      const filter = options.status === undefined ? {} : { status: options.status }
      const found = await withDatabase(({ database }) => listApplications(database.db, filter, MOST))
      const rows = found.map(({ publisher_id, publisher, status, email, website, verified_at, decided_by }) => ({
        publisher_id,
        publisher,
        status,
        email,
        website,
        verified_at,
        decided_by,
      }))
      show(options, rows, () => table(rows, 'No such applications.'))
    })

async function showOne(named: string, options: OutputOptions): Promise<void> {
  const { application, terms } = await withDatabase(async ({ database: { db } }) => {
    const { publisher_id } = await findPublisher(db, named)
    return { application: await readApplication(db, publisher_id), terms: await listAcceptedTerms(db, publisher_id) }
  })
  show(options, application === null ? null : { ...application, terms }, () => {
    if (application === null) return 'This publisher did not sign up.'
    const { answers, application_id: _, ...facts } = application
    const versions = terms.map(({ version, accepted_at }) => `${version} (${accepted_at.toISOString()})`).join(', ')
    const asked = answers.map(({ label, answer }) => `${label}\n  ${answer.replaceAll('\n', '\n  ')}`)
    return [fields({ ...facts, accepted_terms: versions }), ...asked].join('\n\n')
  })
}

const decideCommand = (name: string, description: string) =>
  new Command(name).description(description).argument('<publisher>', 'ID or name')

async function decide(named: string, options: OutputOptions, decision: Decision): Promise<void> {
  const { publisher_id, name } = await withChange(async ({ database: { db }, by }) => {
    const publisher = await findPublisher(db, named)
    await decideApplication(db, by, publisher.publisher_id, decision)
    return publisher
  })
  const status = decision.isApproved ? 'approved' : 'refused'
  show(options, { publisher_id, status }, () => `"${name}" is ${status}, and will be emailed.`)
}

export const approveCommand = () =>
  decideCommand('approve', 'approve a publisher that signed up: its live keys work').action(
    (named: string, options: OutputOptions) => decide(named, options, { isApproved: true }),
  )

export const refuseCommand = () =>
  decideCommand('refuse', 'refuse a publisher that signed up: none of its keys work')
    .requiredOption('--reason <text>', 'reason, shown to the applicant')
    .addOption(yesOption())
    .action(async (named: string, options: OutputOptions & ConfirmOptions & { reason: string }) => {
      await confirm(`All keys of publisher "${named}" stop working, and the applicant is emailed.`, options)
      await decide(named, options, { isApproved: false, refusal: options.reason })
    })
