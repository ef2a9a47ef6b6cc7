// People and their invitations: of a publisher, by its owners; of an advertiser and of the network, by operators.
import { type TObject, Type } from 'typebox'
import type { Db } from '../../../db/open.ts'
import { AppError } from '../../../errors.ts'
import { checkInvitation } from '../../../features/accounts/invitation-limits.ts'
import { invitationUrl, invite, listInvitations, revokeInvitation } from '../../../features/accounts/invitations.ts'
import { findAdvertiserName } from '../../../features/accounts/advertisers.ts'
import {
  ADVERTISER_ROLES,
  findByTypedEmail,
  hasLeader,
  isLeadingRole,
  isMember,
  isOperatorRole,
  listPeople,
  OPERATOR_ROLES,
  PUBLISHER_ROLES,
  type Role,
  type Team as PeopleTeam,
} from '../../../features/accounts/people.ts'
import { changePerson } from '../../../features/accounts/team.ts'
import { cutPage } from '../../../http/paging.ts'
import type { ManageContext } from '../../context.ts'
import { notThere } from '../../gate.ts'
import { publisherName } from '../../publisher-name.ts'
import type { Access } from '../../access.ts'
import type { Call, ManageRoutes } from '../../route.ts'
import { id, OK, Ok } from '../../shapes.ts'
import { changedPerson, IssuedInvitation, newInvitation, Team, TeamQuery } from './schema.ts'

const TAG = 'People'
const INVITATIONS_A_MINUTE = 10
const LIMIT = 20

export function teamRoutes(routes: ManageRoutes, context: ManageContext): void {
  addTeam(routes, context, {
    prefix: '/publishers/:publisher_id',
    idSuffix: 'OfPublisher',
    read: 'publisher',
    write: 'owner',
    params: { publisher_id: id },
    roles: PUBLISHER_ROLES,
    teamOf: (call) => ({ publisherId: call.publisherId }),
  })
  addTeam(routes, context, {
    prefix: '/advertisers/:advertiser_id',
    idSuffix: 'OfAdvertiser',
    read: 'advertiser',
    write: 'operator',
    params: { advertiser_id: id },
    roles: ADVERTISER_ROLES,
    teamOf: ({ params }) => ({ publisherId: null, advertiserId: (params as { advertiser_id: number }).advertiser_id }),
  })
  addTeam(routes, context, {
    prefix: '/operators',
    idSuffix: 'OfNetwork',
    read: 'operator',
    write: 'operator',
    params: {},
    roles: OPERATOR_ROLES,
    teamOf: () => ({ publisherId: null }),
  })
}

/** Operators reach every number; not behind each is a team. */
async function checkTeam(db: Db, { publisherId, advertiserId = null }: PeopleTeam): Promise<void> {
  if (publisherId !== null) await publisherName(db, publisherId)
  if (advertiserId !== null && (await findAdvertiserName(db, advertiserId)) === null)
    throw notThere('There is no such advertiser.')
}

type Place = {
  prefix: string
  idSuffix: string
  read: Access
  write: Access
  params: Record<string, typeof id>
  roles: readonly Role[]
  teamOf: (call: Pick<Call<unknown, unknown, unknown>, 'publisherId' | 'params'>) => PeopleTeam
}

function addTeam(
  routes: ManageRoutes,
  { db, secretKey, config, limiter, sendMails }: ManageContext,
  place: Place,
): void {
  const { prefix, idSuffix, read, write, roles, teamOf } = place
  /** Our mail server is not for writing to strangers. */
  async function countInvitation(personId: string): Promise<void> {
    const { exceeded } = await limiter.take(`invitations of ${personId}`, INVITATIONS_A_MINUTE)
    if (exceeded) throw new AppError('RATE_LIMIT_EXCEEDED', 'Too many invitations. Wait a minute and try again.')
  }
  const params = (more: Record<string, TObject | ReturnType<typeof Type.String> | typeof id> = {}) =>
    Type.Object({ ...place.params, ...more })

  routes.get(`${prefix}/people`, {
    id: `listPeople${idSuffix}`,
    summary: 'List people and open invitations',
    about:
      'Everyone with access, with role and status, in the order in which they joined, and the invitations that were not accepted yet.',
    tag: TAG,
    access: read,
    params: params(),
    query: TeamQuery,
    reply: Team,
    async run(call) {
      const team = teamOf(call)
      await checkTeam(db, team)
      const { search, cursor, limit = LIMIT } = call.query
      const filter = { ...(search === undefined ? {} : { search }), ...(cursor === undefined ? {} : { after: cursor }) }
      const found = await listPeople(db, team, limit + 1, filter)
      const { page, nextCursor } = cutPage(found, limit, (one) => one.id)
      const invitations = await listInvitations(db, team, new Date())
      return {
        people: page,
        next_cursor: nextCursor,
        invitations: invitations.map(
          ({ publisher_id: _publisher, advertiser_id: _advertiser, mailed: _mailed, ...shown }) => shown,
        ),
        has_leader: (await hasLeader(db, team)) || invitations.some(({ role }) => isLeadingRole(role)),
      }
    },
  })

  routes.post(`${prefix}/invitations`, {
    id: `invite${idSuffix}`,
    summary: 'Invite a person',
    about:
      'Creates an invitation link for a role, and mails it when a mail server is configured. Owners can invite once their publisher is approved, and only so many people a day.',
    tag: TAG,
    access: write,
    sensitive: true,
    params: params(),
    body: newInvitation(`NewInvitation${idSuffix}`, roles),
    reply: IssuedInvitation,
    async run(call) {
      const team = teamOf(call)
      const { email } = call.body
      await countInvitation(call.caller.id)
      await checkTeam(db, team)
      if (await isMember(db, team, email)) throw new AppError('CONFLICT', `${email} is already a member.`)
      const url = await createLink(call, team)
      sendMails?.()
      // The link verifies the address, so no one else sees it. Without mail it has to be handed over by an operator,
      // who sees all accounts anyway. Others would learn from it who has one.
      const isShown = sendMails === null && isOperatorRole(call.caller.role)
      return { url: isShown ? url : null, mailed: sendMails !== null }
    },
  })

  async function createLink(call: Call<unknown, unknown, { email: string; role: Role }>, team: PeopleTeam) {
    const { email, role } = call.body
    if (sendMails === null && isOperatorRole(call.caller.role) && (await findByTypedEmail(db, email)) !== null)
      throw new AppError('CONFLICT', `${email} already has an account.`)
    const wanted = { ...team, email, role, invitedBy: call.caller.id, mailed: sendMails !== null }
    const now = new Date()
    const { token } = await db.transaction().execute(async (trx) => {
      if (team.publisherId !== null && !isOperatorRole(call.caller.role))
        await checkInvitation(trx, team.publisherId, email, now)
      return invite(trx, call.by, secretKey, wanted, now)
    })
    return invitationUrl(config.publicUrl, token)
  }

  routes.delete(`${prefix}/invitations/:invitation_id`, {
    id: `revokeInvitation${idSuffix}`,
    summary: 'Revoke an invitation',
    about: 'The link stops working immediately.',
    tag: TAG,
    access: write,
    params: params({ invitation_id: id }),
    reply: Ok,
    async run(call) {
      const { invitation_id } = call.params as unknown as { invitation_id: number }
      const team = teamOf(call)
      const isRevoked = await db
        .transaction()
        .execute((trx) => revokeInvitation(trx, call.by, invitation_id, team, new Date()))
      if (!isRevoked) throw notThere()
      return OK
    },
  })

  routes.patch(`${prefix}/people/:person_id`, {
    id: `changePerson${idSuffix}`,
    summary: "Change a person's role or disable the account",
    about: 'Effective immediately. The sessions and API tokens of a disabled account stop working.',
    tag: TAG,
    access: write,
    sensitive: true,
    params: params({ person_id: Type.String() }),
    body: changedPerson(`ChangedPerson${idSuffix}`, roles),
    reply: Ok,
    async run(call) {
      const { person_id } = call.params as unknown as { person_id: string }
      const team = teamOf(call)
      if (person_id === call.caller.id)
        throw new AppError('CONFLICT', 'You cannot change your own access. Ask another owner or operator.')
      const isOfOperators = team.publisherId === null && (team.advertiserId ?? null) === null
      const byOperator = isOperatorRole(call.caller.role) && !isOfOperators
      const place = { ...team, personId: person_id, byOperator }
      const isChanged = await db
        .transaction()
        .execute((trx) => changePerson(trx, call.by, place, call.body, new Date()))
      if (!isChanged) throw notThere()
      return OK
    },
  })
}
