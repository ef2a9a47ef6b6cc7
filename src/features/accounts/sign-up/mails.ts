// What is mailed about sign-ups: the link to an applicant, the queue to operators, the decision to the applicant.
import type { Trx } from '../../../db/open.ts'
import { findOperators, type Network, queueAtMostHourly, type Writer } from '../mails.ts'
import { findByTypedEmail } from '../people.ts'
import { findEnabledEmail } from '../reset-links.ts'
import { createSignUpLink, unverified } from './links.ts'

/**
 * To an address that has an account goes another mail: only there it is said. Without the applicant's words, which anyone
 * can have written.
 */
export const signUpWriter = (network: Network): Writer => ({
  async findRecipients(trx, about, now) {
    const application = await unverified(trx, now).where('application_id', '=', Number(about)).executeTakeFirst()
    return application === undefined ? [] : [application.email]
  },
  async write(trx, about, now) {
    const application = await unverified(trx, now).where('application_id', '=', Number(about)).executeTakeFirst()
    if (application === undefined) return null
    const { publicUrl } = network
    if ((await findByTypedEmail(trx, application.email)) !== null)
      return {
        subject: 'You already have an account',
        text: `Someone, probably you, signed up at ${publicUrl} with this address. This address already has an account, so no new one was created.\n\nSign in: ${publicUrl}/sign-in\nForgot your password? ${publicUrl}/forgot-password\n\nIf this was not you, you can ignore this email.\n`,
      }
    const link = await createSignUpLink(trx, network, application.application_id)
    return {
      subject: 'Finish signing up',
      text: `Open this link within three days, and enter the password that you chose, to finish signing up at ${publicUrl}:\n${link}\n\nIf you did not sign up, you can ignore this email: the link does not work without the password.\n`,
    }
  },
})

const WAITING = { kind: 'applications_waiting', about: 'queue' } as const

export const notifyOperators = (trx: Trx, now: Date) => queueAtMostHourly(trx, WAITING, now)

export const waitingWriter = ({ publicUrl }: Network): Writer => ({
  findRecipients: findOperators,
  async write(trx) {
    const { count } = await trx
      .selectFrom('applications')
      .select((is) => is.fn.countAll<number>().as('count'))
      .where('status', '=', 'waiting')
      .executeTakeFirstOrThrow()
    if (count === 0) return null
    const subject = count === 1 ? 'A publisher is waiting for review' : `${count} publishers are waiting for review`
    return { subject, text: `${subject}.\n\nReview applications: ${publicUrl}/network/applications\n` }
  },
})

export const decisionWriter = ({ publicUrl }: Network): Writer => ({
  async findRecipients(trx, about) {
    const application = await findDecided(trx, about)
    return application?.person_id == null ? [] : findEnabledEmail(trx, application.person_id)
  },
  async write(trx, about) {
    const application = await findDecided(trx, about)
    if (application === undefined) return null
    const { name, company, status, reason } = application
    if (status === 'approved')
      return {
        subject: 'Your account is approved',
        text: `Hello ${name},\n\n${company} is approved: your live keys work.\n\n${publicUrl}/\n`,
      }
    const why = reason === null ? '' : `\n\nReason:\n${reason}`
    return {
      subject: 'Your application was refused',
      text: `Hello ${name},\n\nThe application of ${company} was refused. Its keys do not work.${why}\n\n${publicUrl}/\n`,
    }
  },
})

/** While it still holds: a publisher may have been suspended since it was approved. */
const findDecided = (trx: Trx, about: string) =>
  trx
    .selectFrom('applications')
    .innerJoin('publishers', 'publishers.publisher_id', 'applications.publisher_id')
    .select(['person_id', 'applications.name', 'company', 'applications.status', 'reason'])
    .where('application_id', '=', Number(about))
    .where((is) =>
      is.or([
        is('applications.status', '=', 'approved').and('publishers.status', '=', 'active'),
        is('applications.status', '=', 'refused').and('publishers.status', '=', 'suspended'),
      ]),
    )
    .executeTakeFirst()
