// Sign-up as the operator sees it: what is asked, who applied, and the decision.
import { readPublisher } from '../../../features/accounts/publishers.ts'
import { type Application, listApplications, readApplication } from '../../../features/accounts/sign-up/applications.ts'
import { countSignUps } from '../../../features/accounts/sign-up/limits.ts'
import { NewSignUpSettings } from '../../../features/accounts/sign-up/schema.ts'
import { listAcceptedTerms } from '../../../features/accounts/sign-up/service-terms.ts'
import { readVersionedSignUp, setSignUp } from '../../../features/accounts/sign-up/settings.ts'
import { type Decision, decideApplication } from '../../../features/apps/review.ts'
import { beforeId, cutPage } from '../../../http/paging.ts'
import type { ManageContext } from '../../context.ts'
import { notThere } from '../../gate.ts'
import type { Call, ManageRoutes } from '../../route.ts'
import { OK, Ok, PublisherParams } from '../../shapes.ts'
import {
  ApplicationList,
  ApplicationListQuery,
  ApplicationReply,
  Approval,
  Refusal,
  SignUpSettingsReply,
} from './schema.ts'

const TAG = 'Publishers'

/** Named by its publisher. */
function present<A extends Application>(application: A): Omit<A, 'application_id'> {
  const { application_id: _, ...shown } = application
  return shown
}

export function applicationRoutes(routes: ManageRoutes, { db, refresh, sendMails }: ManageContext): void {
  routes.get('/sign-up/settings', {
    id: 'getSignUpSettings',
    summary: 'Get sign-up settings',
    about: 'Whether publishers can sign up, what they are asked, and which terms they accept.',
    tag: TAG,
    access: 'operator',
    reply: SignUpSettingsReply,
    async run() {
      const { lastHour, unverified } = await countSignUps(db, new Date())
      return {
        ...(await readVersionedSignUp(db)),
        has_mail: sendMails !== null,
        last_hour: lastHour,
        unverified,
      }
    },
  })

  routes.put('/sign-up/settings', {
    id: 'setSignUpSettings',
    summary: 'Set sign-up settings',
    about: 'Replaces them as a whole. Sign-up can be opened where there is a mail server.',
    tag: TAG,
    access: 'operator',
    sensitive: true,
    bodyLimit: 256 * 1024,
    body: NewSignUpSettings,
    reply: Ok,
    async run({ body, by }) {
      await setSignUp(db, by, body, sendMails !== null)
      return OK
    },
  })

  routes.get('/applications', {
    id: 'listApplications',
    summary: 'List applications',
    about: 'Publishers that signed up and verified their address.',
    tag: TAG,
    access: 'operator',
    query: ApplicationListQuery,
    reply: ApplicationList,
    async run({ query: { status, cursor, limit = 20 } }) {
      const filter = { ...(status === undefined ? {} : { status }), ...beforeId(cursor) }
      const found = await listApplications(db, filter, limit + 1)
      const { page, nextCursor } = cutPage(found, limit, (one) => String(one.application_id))
      return { applications: page.map(present), next_cursor: nextCursor }
    },
  })

  routes.get('/publishers/:publisher_id/application', {
    id: 'getApplication',
    summary: 'Get the application of a publisher',
    about: 'What a publisher answered when it signed up, and what was decided.',
    tag: TAG,
    access: 'operator',
    params: PublisherParams,
    reply: ApplicationReply,
    async run({ publisherId }) {
      const application = await readApplication(db, publisherId)
      if (application === null && (await readPublisher(db, publisherId)) === null) throw notThere()
      if (application === null) return { application }
      return { application: { ...present(application), terms: await listAcceptedTerms(db, publisherId) } }
    },
  })

  async function decide(
    { by, publisherId }: Pick<Call<unknown, unknown, unknown>, 'by' | 'publisherId'>,
    to: Decision,
  ) {
    await decideApplication(db, by, publisherId, to)
    sendMails?.()
    await refresh()
    return OK
  }

  routes.post('/publishers/:publisher_id/application/approve', {
    id: 'approveApplication',
    summary: 'Approve an application',
    about: 'The publisher becomes active: its live keys work within a second. It is mailed.',
    tag: TAG,
    access: 'operator',
    params: PublisherParams,
    body: Approval,
    reply: Ok,
    run: (call) => {
      const { seen_status: seen } = call.body
      return decide(call, { isApproved: true, ...(seen === undefined ? {} : { seen }) })
    },
  })

  routes.post('/publishers/:publisher_id/application/refuse', {
    id: 'refuseApplication',
    summary: 'Refuse an application',
    about: 'The publisher becomes suspended: none of its keys work. It is mailed with the reason.',
    tag: TAG,
    access: 'operator',
    params: PublisherParams,
    body: Refusal,
    reply: Ok,
    run: (call) => decide(call, { isApproved: false, refusal: call.body.reason }),
  })
}
