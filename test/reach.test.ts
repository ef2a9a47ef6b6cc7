// No one reaches what belongs to another publisher or advertiser, or does more than their role and token allow: every operation of
// the management API and of v1, as the OpenAPI description lists them, is called with the credentials of another
// publisher and of another advertiser, with each role, and with tokens of each scope. A new operation is included
// automatically.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { SCOPES } from '../src/features/accounts/access-tokens.ts'
import { createAdvertiser } from '../src/features/accounts/advertisers.ts'
import { isOperatorRole, type Role, ROLES } from '../src/features/accounts/people.ts'
import type { IssuedCredentials } from '../src/features/apps/keys.ts'
import { fill, isFor, isNamed, isPublishers, nameOf, type Operation, operationsOf, OUTSIDERS, type Paths, readPaths } from './operations.ts' // prettier-ignore
import { createPerson, createToken, publisherOfApp, Visitor } from './people.ts'
import { createLocker } from '../src/features/lockers/lockers.ts'
import { propose } from '../src/features/offers/proposals/proposals.ts'
import { TESTER } from './tester.ts'
import { SECRET_KEY, useWorld } from './world.ts'

let paths: Paths
/** Ids of the victim's, by the name of the parameter that takes them. */
const theirs: Record<string, string> = {}
/** The other publisher's own. */
const own: Record<string, string> = {}
let anonymous: Visitor
let ownPublisher: number
let ownAdvertiser: number
const people = {} as Record<Role, Visitor & { id: string }>
let otherKeys: IssuedCredentials

const world = useWorld('reach', async () => {
  const [victim, other] = [await world.createApp(), await world.createApp()]
  otherKeys = other.live
  const victimPublisher = await publisherOfApp(world, victim.appId)
  ownPublisher = await publisherOfApp(world, other.appId)
  const [offerId = 0] = await world.createOffers({})
  const { advertiser_id: victimAdvertiser } = await world.database.db.selectFrom('offers').select('advertiser_id').where('offer_id', '=', offerId).executeTakeFirstOrThrow() // prettier-ignore
  ownAdvertiser = (await createAdvertiser(world.database.db, TESTER, SECRET_KEY, 'Another advertiser')).advertiser_id
  const { body } = await world.report(victim.live, { userId: 'u', offerId })
  const person = await createPerson(world, 'publisher_viewer', victimPublisher)
  const lockerId = await createLocker(world.database.db, TESTER, world.config, victim.appId, { name: 'Theirs' })
  const proposal = { advertiserId: victimAdvertiser, offerId, fields: { name: 'Theirs' } }
  const proposalId = await propose(world.database.db, TESTER, proposal, new Date())
  Object.assign(theirs, {
    publisher_id: String(victimPublisher),
    advertiser_id: String(victimAdvertiser),
    app_id: String(victim.appId),
    conversion_id: body.data.conversion.conversion_id,
    person_id: person.id,
    invitation_id: '1',
    locker_id: String(lockerId),
    proposal_id: String(proposalId),
  })
  Object.assign(own, {
    publisher_id: String(ownPublisher),
    app_id: String(other.appId),
    advertiser_id: String(ownAdvertiser),
    offer_id: String(offerId),
  })
  for (const role of ROLES) people[role] = await signInAs(role)
  anonymous = new Visitor(world)
  paths = readPaths(world)
})

/** Of the publisher or advertiser that is not the victim, or an operator. */
async function signInAs(role: Role) {
  const { id, email } = await createPerson(world, role, teamOf(role))
  return Object.assign(await new Visitor(world).signIn(email), { id })
}

const teamOf = (role: Role) => ({
  publisherId: isPublishers(role) ? ownPublisher : null,
  advertiserId: role === 'advertiser' ? ownAdvertiser : null,
})

const manage = () => operationsOf(paths, '/manage/v1')

/** The status and code that each operation is answered with. */
async function tryAll(wanted: Operation[], visitor: Visitor, ids: Record<string, string>) {
  assert.ok(wanted.length > 0)
  const answers: { operation: Operation; status: number; code: string; message: string }[] = []
  for (const operation of wanted) {
    const { method, path } = operation
    // Signed-in people do not run out of requests: an IP address without a session does, so each has its own.
    const sender = visitor === anonymous ? new Visitor(world) : visitor
    const { status, error } = await sender.send(method, fill(path, ids), method === 'GET' ? undefined : {})
    answers.push({ operation, status, code: error?.code ?? '', message: error?.message ?? '' })
  }
  return answers
}

async function expectAll(wanted: Operation[], visitor: Visitor, ids: Record<string, string>, expected: number) {
  const answers = await tryAll(wanted, visitor, ids)
  assert.deepEqual(
    answers.flatMap(({ operation, status, message }) =>
      status === expected ? [] : [`${nameOf(operation)}: ${status} ${message}`],
    ),
    [],
  )
}

test('without being signed in there is nothing but the door', async () => {
  await expectAll(
    manage().filter(({ access }) => access !== 'anyone'),
    anonymous,
    theirs,
    401,
  )
})

test('another publisher’s apps, people and money are not there', async () => {
  const named = manage().filter((one) => isNamed(one, 'app_id', 'publisher_id'))
  for (const role of OUTSIDERS) await expectAll(named, people[role], theirs, 404)
})

test('another advertiser’s offers, figures and callbacks are not there', async () => {
  const named = manage().filter((one) => isNamed(one, 'advertiser_id'))
  assert.ok(named.length > 5)
  for (const role of OUTSIDERS) await expectAll(named, people[role], theirs, 404)
})

test('what is for publishers is not there for an advertiser, nor the other way round', async () => {
  for (const role of OUTSIDERS) {
    const others = manage().filter((one) => !isFor(role, one))
    assert.ok(others.length > 5)
    await expectAll(others, await signInAs(role), own, 404) // each person has 600 requests a minute
  }
})

test('what belongs to the operator is not there for a publisher or an advertiser', async () => {
  const network = manage().filter(({ access }) => access === 'operator')
  for (const role of OUTSIDERS) await expectAll(network, people[role], own, 404)
})

test('every role may do what the role table says, and nothing else', async () => {
  for (const role of ROLES) {
    const within = manage().filter((one) => one.roles !== null && isFor(role, one))
    const refused = within.filter(({ roles }) => roles?.includes(role) === false)
    if (refused.length > 0)
      for (const { operation, status, code } of await tryAll(refused, people[role], own))
        assert.deepEqual([status, code], [403, 'NOT_ALLOWED'], `${role}: ${nameOf(operation)}`)
    // Whatever becomes of an empty request: it was not turned away for who sent it.
    const allowed = within.filter(({ roles, path }) => roles?.includes(role) && !/revoke|end-old-secret/.test(path))
    if (role === 'operator') continue
    for (const { operation, code } of await tryAll(allowed, people[role], own))
      assert.ok(
        !['NOT_ALLOWED', 'NOT_SIGNED_IN', 'SERVER_ERROR'].includes(code),
        `${role}: ${nameOf(operation)} ${code}`,
      )
  }
})

test('viewers change nothing, finance people only money, developers no money', async () => {
  const writes = manage().filter(({ isRead, roles }) => !isRead && roles !== null)
  const may = (role: Role) => writes.filter(({ roles }) => roles?.includes(role)).map(nameOf)
  assert.deepEqual(may('publisher_viewer'), [])
  assert.deepEqual(may('publisher_finance'), ['PUT /apps/{app_id}/currency', 'PATCH /apps/{app_id}/rewards'])
  assert.deepEqual(may('operator_reader'), [])
  const money = manage().filter(
    ({ path }) => /balance|statements|payments$|currency/.test(path) && !/ledger/.test(path),
  )
  assert.ok(money.length >= 5)
  for (const { roles } of money) assert.equal(roles?.includes('publisher_developer'), false)
})

const SECRETS_AND_PEOPLE = [
  'POST /me/tokens',
  'POST /me/two-factor/disable',
  'POST /publishers/{publisher_id}/invitations',
  'PATCH /publishers/{publisher_id}/people/{person_id}',
  'POST /operators/invitations',
  'PATCH /operators/people/{person_id}',
  'POST /publishers/{publisher_id}/apps',
  'PUT /apps/{app_id}/currency',
  'POST /apps/{app_id}/credentials/{mode}/rotate',
  'POST /apps/{app_id}/credentials/{mode}/signing-secret/rotate',
  'PUT /apps/{app_id}/credentials/{mode}/expiry',
  'PUT /apps/{app_id}/postback',
  'DELETE /apps/{app_id}/postback',
  'POST /advertisers',
  'PATCH /advertisers/{advertiser_id}',
  'POST /advertisers/{advertiser_id}/invitations',
  'PUT /advertisers/{advertiser_id}/allowed-ips',
  'PUT /advertisers/{advertiser_id}/signature',
  'POST /advertisers/{advertiser_id}/rotate-token',
]

test('what creates people, tokens, secrets or ways in needs a recently verified session', async () => {
  const sensitive = manage().filter(({ isSensitive }) => isSensitive)
  const names = sensitive.map(nameOf)
  for (const name of SECRETS_AND_PEOPLE) assert.ok(names.includes(name), name)
  for (const role of ['operator', 'publisher_owner', 'advertiser'] as const) {
    const late = await signInAs(role)
    const forThem = sensitive.filter(({ roles, access }) => roles?.includes(role) ?? access === 'session')
    const quarterHourAgo = new Date(Date.now() - 15 * 60_000 - 1)
    await world.database.db.updateTable('sessions').set({ proven_at: quarterHourAgo }).where('person_id', '=', late.id).execute() // prettier-ignore
    for (const { operation, status, code } of await tryAll(forThem, late, own))
      assert.deepEqual([status, code], [403, 'PROOF_REQUIRED'], nameOf(operation))
  }
})

test('a token does what one of its scopes allows, of what its person may; never what needs a session', async () => {
  const answers = new Map<string, string[]>()
  const harmless = manage().filter(({ access, isRead, takesTokens }) => access !== 'anyone' && (isRead || !takesTokens))
  const changing = manage().filter(({ isRead, takesTokens }) => takesTokens && !isRead)
  for (const scope of SCOPES) {
    const program = await createToken(world, (await signInAs('operator')).id, [scope])
    for (const { operation, code, message } of await tryAll(harmless, program, own)) {
      const isAllowed = operation.takesTokens && (operation.scopes?.includes(scope) ?? true)
      assert.equal(code !== 'NOT_ALLOWED', isAllowed, `${scope}: ${nameOf(operation)}: ${message}`)
      if (!operation.takesTokens) assert.match(message, /Sign in to the dashboard/)
      if (isAllowed) answers.set(nameOf(operation), [...(answers.get(nameOf(operation)) ?? []), scope])
    }
    const refused = changing.filter(({ scopes }) => scopes?.includes(scope) !== true)
    for (const { operation, code, message } of await tryAll(refused, program, own)) {
      assert.equal(code, 'NOT_ALLOWED', `${scope}: ${nameOf(operation)}`)
      assert.match(message, /lacks a required scope/)
    }
  }
  // Every operation that a token may use is open to some token.
  for (const operation of harmless.filter(({ takesTokens }) => takesTokens))
    assert.ok((answers.get(nameOf(operation)) ?? []).length >= 2, nameOf(operation))
})

test('a token of a role that may not stays out, whatever its scopes', async () => {
  for (const role of ROLES.filter((one) => one !== 'operator')) {
    const program = await createToken(world, people[role].id, SCOPES)
    const refused = manage().filter((one) => one.takesTokens && one.roles?.includes(role) === false && isFor(role, one))
    if (refused.length > 0) await expectAll(refused, program, own, 403)
    if (isOperatorRole(role)) continue
    const others = manage().filter((one) => one.takesTokens && !isFor(role, one))
    await expectAll(others, program, own, 404)
    const named = manage().filter((one) => one.takesTokens && isNamed(one, 'app_id', 'advertiser_id'))
    await expectAll(named, program, theirs, 404)
  }
})

test('another publisher’s ids inside one’s own app are not there', async () => {
  const mixed = { ...theirs, ...own }
  const deep = manage().filter(
    (one) =>
      one.isRead &&
      one.method === 'GET' &&
      one.parameters.some((name) => name in theirs && !(name in own)) &&
      one.roles?.includes('publisher_owner') === true,
  )
  if (deep.length > 0) await expectAll(deep, people.publisher_owner, mixed, 404)
})

test('another advertiser’s ids inside one’s own account are not there', async () => {
  const deep = manage().filter(
    (one) => isNamed(one, 'advertiser_id') && one.parameters.length > 1 && one.roles?.includes('advertiser') === true,
  )
  for (const { operation, status } of await tryAll(deep, await signInAs('advertiser'), { ...theirs, ...own }))
    assert.ok(status === 404 || (status === 400 && operation.method !== 'GET'), `${nameOf(operation)}: ${status}`)
})

test('with another app’s key, v1 knows nothing of a conversion', async () => {
  // Each app has users of its own, by any ID.
  const named = operationsOf(paths, '/api/v1').filter(({ parameters }) =>
    parameters.some((name) => name !== 'offer_id' && name !== 'userId'),
  )
  assert.ok(named.length > 0)
  for (const { method, path } of named) {
    const { status } = await world.get(`/v1${fill(path, { ...theirs, ...own })}`, otherKeys, {
      method: method as 'GET',
      ...(method === 'GET' ? {} : { payload: {} }),
    })
    assert.equal(status, 404, `${method} ${path}`)
  }
})

test('in every list an invalid cursor is reported beside the other problems', async () => {
  const lists = manage().filter(
    ({ method, query }) => method === 'GET' && query.includes('cursor') && query.includes('limit'),
  )
  assert.ok(lists.length >= 10)
  for (const { path } of lists) {
    const { status, error } = await people.operator.get(`${fill(path, own)}?cursor=-&limit=0`)
    const named = Object.keys(error.details ?? {})
    assert.ok(status === 400 && named.includes('cursor') && named.includes('limit'), `GET ${path}: ${named.join()}`)
  }
})

test('an operator reaches all of it', async () => {
  const reads = manage().filter(
    (one) =>
      one.method === 'GET' &&
      one.parameters.every((name) => ['app_id', 'publisher_id', 'advertiser_id'].includes(name)),
  )
  for (const { path } of reads) {
    const { status, text } = await people.operator.get(fill(path, theirs))
    assert.ok(status === 200 || status === 400, `GET ${path}: ${status} ${text.slice(0, 200)}`)
  }
})
