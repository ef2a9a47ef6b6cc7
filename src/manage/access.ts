// The role table: who may use an operation of the management API, and which scope a token needs for it. An operation says
// its `access` and `tag` (route.ts), the gate enforces what follows from them, and docs/roles.md shows it.
import {
  ADVERTISER_ROLES,
  isOperatorRole,
  OPERATOR_ROLES,
  PUBLISHER_ROLES,
  type Role,
} from '../features/accounts/people.ts'
import type { Scope } from '../features/accounts/access-tokens.ts'

/**
 * Who may use an operation:
 * - anyone: also without being signed in
 * - person: anyone signed in, for themselves
 * - session: the same, but in a browser: a token cannot create more tokens, nor change how a person signs in, nor find
 *   what its scopes do not cover
 * - publisher: the people of the publisher that the path names (or whose app it names); owners and developers change it
 * - finance: a publisher's money, for its owners and finance people
 * - owner: a publisher's owners
 * - advertiser: the people of the advertiser that the path names
 * - operator: operators
 *
 * Operators may do all that a publisher's owner or an advertiser may. Those who may only read change nothing but themselves. For what is
 * out of the caller's reach the answer is 404.
 */
export type Access = 'anyone' | 'person' | 'session' | 'publisher' | 'finance' | 'owner' | 'advertiser' | 'operator'

/** The scope of a token that covers an operation, by its tag. Null: no scope does. */
const SCOPES_BY_TAG = {
  'Signing in': null,
  'Your account': null,
  Search: null,
  People: 'people',
  Apps: 'apps',
  'Offers of an app': 'apps',
  'Wall of an app': 'apps',
  'Lockers of an app': 'apps',
  'Postbacks of an app': 'postbacks',
  'Conversions of an app': 'conversions',
  'Users of an app': 'conversions',
  Reports: 'reports',
  Balance: 'money',
  'Offers of the network': 'offers',
  'Advertisers of the network': 'advertisers',
  'Advertiser account': 'advertisers',
  Feeds: 'offers',
  Publishers: 'publishers',
  'Conversions of the network': 'conversions',
  Fraud: 'fraud',
  'Banned users': 'fraud',
  'Reported links': 'fraud',
  'Postback health': 'postbacks',
  Ledger: 'money',
  'Audit log': 'system',
  System: 'system',
} as const satisfies Record<string, Scope | null>

export type Tag = keyof typeof SCOPES_BY_TAG

/** What the description of the API says about each of them. */
export const MANAGE_TAGS: Record<Tag, string> = {
  'Signing in': 'Sessions, invitations, sign-up and forgotten passwords.',
  'Your account': 'Your own password, second factor, sessions and API tokens.',
  Search: 'One search over everything that you can open in the dashboard.',
  People: 'The people of a publisher or of the network: their roles and invitations.',
  Apps: "A publisher's apps: API keys, secrets, currency and integration checklist.",
  'Offers of an app': 'The catalog as the users of an app see it, and the content rules of the app.',
  'Lockers of an app': 'Content and link lockers: what they need, where they lead, how often they were unlocked.',
  'Wall of an app': 'How the offerwall of an app looks, which pages may show it, and tickets of its users.',
  'Postbacks of an app': 'Postback settings, delivery log, test sends and replays.',
  'Conversions of an app': 'The conversions of an app, each with its timeline.',
  'Users of an app': 'The users of an app: their clicks, balance and ban.',
  Reports: 'Clicks, conversions, payout and revenue by day and dimension.',
  Balance: 'What a publisher has earned and was paid, by month.',
  'Offers of the network': 'Create, change, pause and import offers.',
  'Advertisers of the network': 'Advertisers, their tokens and mappings, and the log of their callbacks.',
  'Advertiser account': 'What the people of an advertiser see and do themselves.',
  Feeds: 'Offers from other networks: feeds, their runs, and exchange rates.',
  Publishers: 'Publishers, their applications, permissions, rate limits and trust.',
  'Conversions of the network': 'Search conversions of all apps; approve, reject and reverse them.',
  Fraud: 'Fraud signals, and the rules that say what happens to flagged conversions.',
  'Banned users': 'Users who see no offers, in one app or in all.',
  'Reported links': 'Link lockers that visitors reported; take them down and restore them.',
  'Postback health': 'Delivery health of every app; pause and resume deliveries.',
  Ledger: 'Balances, payments, payment runs and the ledger check.',
  'Audit log': 'Every change that a person made.',
  System: 'Versions, queues, database and nodes of this installation.',
}

/** What the gate needs to know of an operation. */
export type Operation = {
  access: Access
  tag: Tag
  /** Reading, also by a method that usually changes something. */
  isRead: boolean
  /** Creates people, tokens, secrets or ways in: needs a session whose person was verified recently. */
  isSensitive: boolean
  /** Open to those who have yet to set up the second factor that they must have. */
  isForSetUp: boolean
}

/** Null: everyone who is signed in, or also those who are not. */
export function rolesOf({ access, isRead }: Operation): Role[] | null {
  if (access === 'anyone' || access === 'person' || access === 'session') return null
  const operators: Role[] = isRead ? ['operator', 'operator_reader'] : ['operator']
  if (access === 'operator') return operators
  if (access === 'advertiser') return [...ADVERTISER_ROLES, ...operators]
  if (access === 'owner') return ['publisher_owner', ...operators]
  if (access === 'finance') return ['publisher_owner', 'publisher_finance', ...operators]
  return isRead ? [...PUBLISHER_ROLES, ...operators] : ['publisher_owner', 'publisher_developer', ...operators]
}

/** Whether an operation is for this kind of person at all; to the others it is not there. */
export function isForKind(operation: Operation, role: Role): boolean {
  const roles = rolesOf(operation)
  if (roles === null || isOperatorRole(role)) return true
  const kind: readonly Role[] = role === 'advertiser' ? ADVERTISER_ROLES : PUBLISHER_ROLES
  return kind.some((one) => roles.includes(one))
}

/** The scopes of which a token must have one. Null: no token may, or any token. */
export function scopesOf(operation: Operation): Scope[] | null {
  const scope = SCOPES_BY_TAG[operation.tag]
  if (needsSession(operation) || operation.access === 'anyone' || scope === null) return null
  return operation.isRead ? ['read', scope] : [scope]
}

export const needsSession = ({ access, isSensitive }: Operation) => access === 'session' || isSensitive

const ROLE_NAMES: Record<Role, string> = {
  operator: 'operator',
  operator_reader: 'operator (read only)',
  publisher_owner: 'owner',
  publisher_developer: 'developer',
  publisher_finance: 'finance',
  publisher_viewer: 'viewer',
  advertiser: 'advertiser',
}
export const roleName = (role: Role) => ROLE_NAMES[role]

/** The message for a role that is refused. */
export function refusalOf(operation: Operation, role: Role): string {
  if (role === 'operator_reader') return 'Your account is read-only.'
  const names = (rolesOf(operation) ?? []).filter((one) => !isOperatorRole(one)).map(roleName)
  return `Your role, ${roleName(role)}, does not allow this. Allowed roles: ${names.join(', ')}. Ask an owner of this publisher.`
}

/** Operators, or the people of a publisher, in one word where every role of them may. */
function namesOf(roles: readonly Role[]): string {
  const together = [
    { all: PUBLISHER_ROLES, name: 'any role of the publisher' },
    { all: OPERATOR_ROLES, name: 'any operator' },
  ].filter(({ all }) => all.every((role) => roles.includes(role)))
  const others = roles.filter((role) => !together.some(({ all }) => (all as readonly Role[]).includes(role)))
  return [...others.map(roleName), ...together.map(({ name }) => name)].join(', ')
}

/** For the description of the API. */
export function describeAccess(operation: Operation, about: string) {
  const roles = rolesOf(operation)
  const scopes = scopesOf(operation)
  const sentences = [
    about,
    ...(roles === null ? [] : [`For: ${namesOf(roles)}.`]),
    ...(scopes === null ? [] : [`Token scope: ${scopes.map((scope) => `\`${scope}\``).join(' or ')}.`]),
    ...(operation.isSensitive ? ['Requires a session confirmed within 15 minutes: see `proveSession`.'] : []),
  ]
  return {
    description: sentences.join(' '),
    security: securityOf(operation),
    'x-access': operation.access,
    'x-read': operation.isRead,
    ...(roles === null ? {} : { 'x-roles': roles }),
    ...(scopes === null ? {} : { 'x-token-scopes': scopes }),
    ...(operation.isSensitive ? { 'x-recent-proof': true } : {}),
    ...(operation.isForSetUp ? { 'x-set-up': true } : {}),
  }
}

function securityOf(operation: Operation) {
  if (operation.access === 'anyone') return []
  return needsSession(operation) ? [{ session: [] }] : [{ bearer: [] }, { session: [] }]
}
