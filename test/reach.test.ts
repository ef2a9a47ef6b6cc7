// Nobody reaches what is somebody else's: every operation of the management API and of v1, as the description of the API
// lists them, is tried with the credentials of another publisher. A new operation is in this test without being named.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { IssuedCredentials } from '../src/features/apps/apps.ts'
import type { Access } from '../src/manage/route.ts'
import { makePerson, publisherOfApp, visit, Visitor } from './people.ts'
import { useWorld } from './world.ts'

type Operation = {
  method: string
  path: string
  access: Access
  parameters: string[]
}

type Paths = Record<string, Record<string, { 'x-access'?: Access; parameters?: { in: string; name: string }[] }>>

let paths: Paths
/** Ids of the victim's, by the name of the parameter that takes them. */
const theirs: Record<string, string> = {}
/** The other publisher's own. */
const own: Record<string, string> = {}
let owner: Visitor, member: Visitor, reader: Visitor, operator: Visitor, nobody: Visitor
let otherKeys: IssuedCredentials

const world = useWorld('reach', async () => {
  const [victim, other] = [await world.makeApp(), await world.makeApp()]
  otherKeys = other.live
  const victimPublisher = await publisherOfApp(world, victim.appId)
  const otherPublisher = await publisherOfApp(world, other.appId)
  const [offerId = 0] = await world.makeOffers({})
  const { body } = await world.report(victim.live, { userId: 'u', offerId })
  const person = await makePerson(world, 'publisher_member', victimPublisher)
  Object.assign(theirs, {
    publisher_id: String(victimPublisher),
    app_id: String(victim.appId),
    conversion_id: body.data.conversion.conversion_id,
    person_id: person.id,
    invitation_id: '1',
  })
  Object.assign(own, { publisher_id: String(otherPublisher), app_id: String(other.appId), offer_id: String(offerId) })
  owner = await visit(world, 'publisher_owner', otherPublisher)
  member = await visit(world, 'publisher_member', otherPublisher)
  reader = await visit(world, 'operator_reader')
  operator = await visit(world, 'operator')
  nobody = new Visitor(world)
  const { text } = await world.get('/openapi.json')
  paths = (JSON.parse(text) as { paths: Paths }).paths
})

const NO_ID = '01890000-0000-7000-8000-000000000000'

function operations(prefix: string): Operation[] {
  return Object.entries(paths)
    .filter(([path]) => path.startsWith(prefix))
    .flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, operation]) => ({
        method: method.toUpperCase(),
        path: path.slice(prefix.length),
        access: operation['x-access'] ?? 'publisher',
        parameters: [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name ?? ''),
      })),
    )
}

const fill = (path: string, ids: Record<string, string>) =>
  path.replaceAll(
    /\{(\w+)\}/g,
    (_, name: string) => ids[name] ?? (name.endsWith('_id') && /^\d/.test(name) ? '1' : NO_ID),
  )

const isWrite = ({ method }: Operation) => method !== 'GET'
const manage = () => operations('/manage/v1')

async function expectAll(
  wanted: Operation[],
  visitor: Visitor,
  ids: Record<string, string>,
  status: number,
): Promise<void> {
  const wrong: string[] = []
  for (const { method, path } of wanted) {
    // Nobody who is signed in runs out of requests: an address that has no session does, so each comes from another.
    const sender = visitor === nobody ? new Visitor(world) : visitor
    const answer = await sender.send(method, fill(path, ids), method === 'GET' ? undefined : {})
    if (answer.status !== status) wrong.push(`${method} ${path}: ${answer.status} ${answer.text.slice(0, 120)}`)
  }
  assert.ok(wanted.length > 0)
  assert.deepEqual(wrong, [])
}

test('without being signed in there is nothing but the door', async () => {
  await expectAll(
    manage().filter(({ access }) => access !== 'anyone'),
    nobody,
    theirs,
    401,
  )
})

test('another publisher’s apps, people and money are not there', async () => {
  const named = manage().filter(
    ({ parameters }) => parameters.includes('app_id') || parameters.includes('publisher_id'),
  )
  await expectAll(named, owner, theirs, 404)
  await expectAll(named, member, theirs, 404)
})

test('what belongs to the operator is not there for a publisher', async () => {
  const network = manage().filter(({ access }) => access === 'operator')
  await expectAll(network, owner, own, 404)
  await expectAll(network, member, own, 404)
})

test('an operator who may only look changes nothing', async () => {
  const writes = manage().filter((one) => isWrite(one) && !['anyone', 'person', 'session'].includes(one.access))
  await expectAll(writes, reader, theirs, 403)
})

test('what only owners may do, members may not', async () => {
  await expectAll(
    manage().filter(({ access }) => access === 'owner'),
    member,
    own,
    403,
  )
})

test('another publisher’s ids inside one’s own app are not there', async () => {
  const mixed = { ...theirs, ...own }
  const deep = manage().filter(
    (one) =>
      !isWrite(one) &&
      one.parameters.some((name) => name in theirs && !(name in own)) &&
      ['publisher', 'owner'].includes(one.access),
  )
  if (deep.length > 0) await expectAll(deep, owner, mixed, 404)
})

test('with another app’s key, v1 knows nothing of a conversion', async () => {
  const named = operations('/v1').filter(({ parameters }) => parameters.some((name) => name !== 'offer_id'))
  assert.ok(named.length > 0)
  for (const { method, path } of named) {
    const { status } = await world.get(`/v1${fill(path, { ...theirs, ...own })}`, otherKeys, {
      method: method as 'GET',
      ...(method === 'GET' ? {} : { payload: {} }),
    })
    assert.equal(status, 404, `${method} ${path}`)
  }
})

test('an operator reaches all of it', async () => {
  const reads = manage().filter(
    (one) => !isWrite(one) && one.parameters.every((name) => ['app_id', 'publisher_id'].includes(name)),
  )
  for (const { path } of reads) {
    const { status, text } = await operator.get(fill(path, theirs))
    assert.ok(status === 200 || status === 400, `GET ${path}: ${status} ${text.slice(0, 200)}`)
  }
})
