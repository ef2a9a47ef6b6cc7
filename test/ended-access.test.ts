// Access that has ended opens no route: ended sessions and tokens, revoked roles, keys of publishers that are suspended
// or await approval.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { changePerson } from '../src/features/accounts/team.ts'
import type { IssuedCredentials } from '../src/features/apps/keys.ts'
import { operationsOf, readPaths } from './operations.ts'
import { createPerson, createToken, PASSWORD, publisherOfApp } from './people.ts'
import { fill, isBehind, isClosed, listRoutes, type ServedRoute } from './routes.ts'
import { PUBLIC_URL, useWorld } from './world.ts'
import { TESTER } from './tester.ts'

let routes: ServedRoute[]
let senders = 0
const world = useWorld('ended_access', async () => {
  await world.createApp() // the first one, which the paths name
  routes = listRoutes(world.app.server)
})

const closedRoutes = () => routes.filter(isClosed)

const send = (route: ServedRoute, headers: Record<string, string>) =>
  world.app.server.inject({
    method: route.method as 'GET',
    url: fill(route.path),
    remoteAddress: `10.7.${(senders >> 8) & 255}.${senders++ & 255}`,
    headers: { origin: PUBLIC_URL, ...headers },
    ...(route.method === 'GET' || route.method === 'HEAD' ? {} : { payload: {} }),
  })

/** Signs in and returns the headers of the session. */
async function sessionOf(email: string): Promise<{ cookie: string }> {
  const answer = await world.app.server.inject({
    method: 'POST',
    url: '/manage/v1/session',
    remoteAddress: `10.6.${(senders >> 8) & 255}.${senders++ & 255}`,
    headers: { origin: PUBLIC_URL },
    payload: { email, password: PASSWORD },
  })
  assert.equal(answer.statusCode, 200)
  return { cookie: [answer.headers['set-cookie'] ?? []].flat().map((one) => one.split(';')[0]).join('; ') } // prettier-ignore
}

test('no route takes a session or token that expired or was revoked, nor those of a disabled person', async () => {
  const { db } = world.database
  const make = async () => {
    const person = await createPerson(world, 'operator')
    const { token } = await createToken(world, person.id, ['read'])
    return { person, session: await sessionOf(person.email), token: { authorization: `Bearer ${token}` } }
  }
  const [expired, revoked, disabled] = [await make(), await make(), await make()]
  const past = new Date(Date.now() - 1_000)
  await db.updateTable('sessions').set({ expires_at: past }).where('person_id', '=', expired.person.id).execute()
  await db.updateTable('access_tokens').set({ expires_at: past }).where('person_id', '=', expired.person.id).execute()
  await db.deleteFrom('sessions').where('person_id', '=', revoked.person.id).execute()
  await db.updateTable('access_tokens').set({ revoked_at: past }).where('person_id', '=', revoked.person.id).execute()
  // By the rows alone: disabling ends sessions and tokens, and each must be refused even where that failed.
  await db.updateTable('people').set({ disabled_at: past }).where('id', '=', disabled.person.id).execute()
  const through: string[] = []
  for (const route of closedRoutes())
    for (const [name, one] of Object.entries({ expired, revoked, disabled }))
      for (const headers of [one.session, one.token] as Record<string, string>[]) {
        const { statusCode } = await send(route, headers)
        if (statusCode !== 401) through.push(`${route.method} ${route.path} (${name}): ${statusCode}`)
      }
  assert.deepEqual(through, [])
})

test('whose role was just taken away has no more than the new one, on every route', async () => {
  const operations = operationsOf(readPaths(world), '/manage/v1')
  const publisherId = await publisherOfApp(world, 1)
  const others = await createPerson(world, 'publisher_owner', publisherId) // a team must have an owner
  const through: string[] = []
  for (const [from, to, ofPublisher] of [
    ['operator', 'operator_reader', null],
    ['publisher_owner', 'publisher_viewer', publisherId],
  ] as const) {
    const person = await createPerson(world, from, ofPublisher)
    const session = await sessionOf(person.email)
    await world.database.db
      .transaction()
      .execute((trx) => changePerson(trx, TESTER, { personId: person.id, publisherId: ofPublisher, byOperator: true }, { role: to }, new Date())) // prettier-ignore
    for (const { method, path, roles, access } of operations) {
      if (roles === null || roles.includes(to) || access === 'anyone') continue
      const { statusCode } = await send({ method, path: `/manage/v1${path.replaceAll(/\{\w+\}/g, '1')}` }, session)
      if (![401, 403, 404].includes(statusCode)) through.push(`${method} ${path} (${to}): ${statusCode}`)
    }
  }
  assert.ok(others.id !== '')
  assert.deepEqual(through, [])
})

test('keys of a suspended publisher, and live keys of one that waits for approval, open no route of v1', async () => {
  const closed = [...routes.filter(isBehind('/v1')), ...routes.filter(isBehind('/api/v1'))]
  const keysOf = ({ api_key, api_secret }: IssuedCredentials) => ({ 'x-api-key': api_key, 'x-api-secret': api_secret })
  const createOf = async (status: string) => {
    const app = await world.createApp()
    const publisherId = await publisherOfApp(world, app.appId)
    await world.database.db.updateTable('publishers').set({ status }).where('publisher_id', '=', publisherId).execute()
    await world.database.db.updateTable('apps').set({ name: `App of a ${status} one` }).where('app_id', '=', app.appId).execute() // prettier-ignore
    return { ...app, publisherId }
  }
  const [suspended, pending] = [await createOf('suspended'), await createOf('pending')]
  await world.app.refresh()
  const through: string[] = []
  for (const route of closed)
    for (const [name, keys] of [
      ['suspended', suspended.live],
      ['suspended test', suspended.test],
      ['pending', pending.live],
    ] as const) {
      // prettier-ignore
      const { statusCode } = await send(route, keysOf(keys))
      if (statusCode !== 401) through.push(`${route.method} ${route.path} (${name}): ${statusCode}`)
    }
  assert.deepEqual(through, [])
  const { statusCode } = await world.app.server.inject({ url: '/v1/offers?userId=u', headers: keysOf(pending.test) })
  assert.equal(statusCode, 200, 'a test key works while its publisher waits')
  // Their people still sign in, and reach nothing of others.
  const operatorOnly = operationsOf(readPaths(world), '/manage/v1').filter(({ roles }) => roles !== null && !roles.includes('publisher_owner')) // prettier-ignore
  for (const [place, { publisherId }] of [suspended, pending].entries()) {
    const { email } = await createPerson(world, 'publisher_owner', publisherId)
    const session = await sessionOf(email)
    for (const { method, path } of operatorOnly.filter((_, i) => i % 2 === place)) {
      const answer = await send({ method, path: `/manage/v1${path.replaceAll(/\{\w+\}/g, '1')}` }, session)
      assert.ok([403, 404].includes(answer.statusCode), `${method} ${path}: ${answer.statusCode}`)
    }
  }
})
