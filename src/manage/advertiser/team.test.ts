// The people of an advertiser: invited by operators, at home in their own account and nowhere else.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createAdvertiser } from '../../features/accounts/advertisers.ts'
import { createPerson, createToken, keepOut, Visitor, visit } from '../../../test/people.ts'
import { TESTER } from '../../../test/tester.ts'
import { SECRET_KEY, useWorld } from '../../../test/world.ts'

const world = useWorld('advertiser_team')

let count = 0
async function createTeam() {
  const name = `Team ${count++}`
  const { advertiser_id } = await createAdvertiser(world.database.db, TESTER, SECRET_KEY, name)
  const team = { publisherId: null, advertiserId: advertiser_id }
  return { name, team, advertiserId: advertiser_id, base: `/advertisers/${advertiser_id}` as const }
}

type Team = { people: { id: string; email: string; role: string }[]; invitations: { invitation_id: number }[] }

test('an operator invites a person of an advertiser, who joins and finds that advertiser', async () => {
  const { base, name, advertiserId } = await createTeam()
  const operator = await visit(world, 'operator')
  const invited = await operator.post<{ url: string }>(`${base}/invitations`, { email: 'ada@example.com', role: 'advertiser' }) // prettier-ignore
  const token = invited.data.url.split('#')[1] ?? ''
  const guest = new Visitor(world)
  const { data: open } = await guest.post<{ role: string; advertiser: string }>('/invitation', { token })
  assert.deepEqual([open.role, open.advertiser], ['advertiser', name])
  await guest.post('/invitation/accept', { token, name: 'Ada', password: 'a good long password' })
  const { data: me } = await guest.get<{ role: string; publisher: null; advertiser: object }>('/me')
  assert.deepEqual([me.role, me.publisher, me.advertiser], ['advertiser', null, { advertiser_id: advertiserId, name }])
  const { data: team } = await guest.get<Team>(`${base}/people`)
  assert.deepEqual(
    team.people.map(({ email, role }) => [email, role]),
    [['ada@example.com', 'advertiser']],
  )
})

test('an advertiser’s people are no operators, and an operator’s list does not have them', async () => {
  const { team } = await createTeam()
  const person = await createPerson(world, 'advertiser', team)
  const operator = await visit(world, 'operator')
  const { data } = await operator.get<Team>('/operators/people')
  assert.ok(!data.people.some(({ id }) => id === person.id))
  assert.equal((await operator.patch(`/operators/people/${person.id}`, { role: 'operator' })).status, 404)
})

test('they invite and disable no one, and take no other role', async () => {
  const { base, team } = await createTeam()
  const [self, colleague] = [await visit(world, 'advertiser', team), await createPerson(world, 'advertiser', team)]
  for (const { status } of [
    await self.post(`${base}/invitations`, { email: 'x@example.com', role: 'advertiser' }),
    await self.patch(`${base}/people/${colleague.id}`, { disabled: true }),
  ])
    assert.equal(status, 404)
  const operator = await visit(world, 'operator')
  assert.equal((await operator.patch(`${base}/people/${colleague.id}`, { role: 'operator' })).status, 400)
  assert.equal((await operator.patch(`${base}/people/${colleague.id}`, { disabled: true })).status, 200)
})

test('one who is disabled is out at once, with every session and token', async () => {
  const { base, team } = await createTeam()
  const person = await createPerson(world, 'advertiser', team)
  const session = await new Visitor(world).signIn(person.email)
  const program = await createToken(world, person.id, ['read'])
  for (const caller of [session, program]) assert.equal((await caller.get(base)).status, 200)
  await keepOut(world, person)
  for (const caller of [session, program]) assert.equal((await caller.get(base)).status, 401)
})

test('they rotate the token and set the IP allowlist and signature of their own advertiser only', async () => {
  const [ours, theirs] = [await createTeam(), await createTeam()]
  const self = await visit(world, 'advertiser', ours.team)
  const signature = { algorithm: 'sha256', of: '{click_id}{secret}', encoding: 'hex', parameter: 'sig', header: null }
  for (const [base, expected] of [
    [ours.base, 200],
    [theirs.base, 404],
  ] as const) {
    assert.equal((await self.post(`${base}/rotate-token`, { grace: '1h' })).status, expected)
    assert.equal((await self.put(`${base}/allowed-ips`, { allowed_ips: ['192.0.2.7'] })).status, expected)
    assert.equal((await self.put(`${base}/signature`, { signature, secret: 'long enough secret' })).status, expected)
    assert.equal((await self.patch(base, { negative_amount: 'ignore' })).status, 404, 'mappings are the operator’s')
  }
  const { data } = await self.get<{ allowed_ips: string[]; signature: { of: string }; tokens: unknown[] }>(ours.base)
  assert.deepEqual([data.allowed_ips, data.signature.of, data.tokens.length], [['192.0.2.7'], '{click_id}{secret}', 2])
  const { data: log } = await (
    await visit(world, 'operator')
  ).get<{ entries: { action: string }[] }>(`/audit?subject=${ours.advertiserId}`)
  const actions = log.entries.map(({ action }) => action)
  for (const action of ['advertiser.rotate_token', 'advertiser.change', 'advertiser.set_signature'])
    assert.ok(actions.includes(action), `${action}: ${actions.join()}`)
})

test('the callback log has their own calls, and no other advertiser’s', async () => {
  const [offerId = 0, otherOffer = 0] = [...(await world.createOffers({})), ...(await world.createOffers({}))]
  const { live } = await world.createApp()
  for (const id of [offerId, otherOffer]) await world.confirm(id, (await world.click(id, live)).clickId, {})
  const { advertiser_id: advertiserId } = await world.database.db.selectFrom('offers').select('advertiser_id').where('offer_id', '=', offerId).executeTakeFirstOrThrow() // prettier-ignore
  const self = await visit(world, 'advertiser', { publisherId: null, advertiserId })
  type Calls = { calls: { advertiser_id: number; inbound_id: string; query: string }[] }
  const { data } = await self.get<Calls>(`/advertisers/${advertiserId}/inbound-calls`)
  assert.deepEqual([data.calls.length, data.calls[0]?.advertiser_id], [1, advertiserId])
  assert.match(data.calls[0]?.query ?? '', /token=\*/)
  const operator = await visit(world, 'operator')
  const all = (await operator.get<Calls>('/inbound-calls')).data.calls
  const foreign = all.find((call) => call.advertiser_id !== advertiserId)?.inbound_id
  const { data: none } = await self.get<Calls>(`/advertisers/${advertiserId}/inbound-calls?inbound_id=${foreign}`)
  assert.deepEqual(none.calls, [])
})
