// What an advertiser proposes, and what an operator makes of it: through the door.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Static } from 'typebox'
import { createFeedOf } from '../../../../test/feed-rows.ts'
import { PIXEL } from '../../../../test/images.ts'
import { createPerson, keepOut, visit, Visitor } from '../../../../test/people.ts'
import { TESTER } from '../../../../test/tester.ts'
import { useWorld } from '../../../../test/world.ts'
import { proposalDecisionWriter, proposalsWaitingWriter } from '../../../features/offers/proposals/mails.ts'
import { forgetOldProposals, MAX_WAITING, propose } from '../../../features/offers/proposals/proposals.ts'
import type { ShownOffer } from '../../operator/offers/schema.ts'
import type { ReviewedProposal } from '../../operator/proposals/schema.ts'
import type { OwnProposal, OwnProposalList } from './schema.ts'

type Own = Static<typeof OwnProposal>
type Review = Static<typeof ReviewedProposal>

const DAY_MS = 86_400_000
let operator: Visitor
const world = useWorld('proposals', async () => {
  operator = await visit(world, 'operator')
})

async function createOwn(offer: Record<string, unknown> = {}) {
  const goals = [{ name: 'Install', payout: 1, revenue: 2, external_id: 'i' }, { name: 'Buy', payout: 5, revenue: 8 }] // prettier-ignore
  const [offerId = 0] = await world.createOffers({ goals, payout: undefined, countries: ['US'], ...offer })
  const { advertiser_id: advertiserId } = await world.database.db.selectFrom('offers').select('advertiser_id').where('offer_id', '=', offerId).executeTakeFirstOrThrow() // prettier-ignore
  const person = await createPerson(world, 'advertiser', { publisherId: null, advertiserId })
  const self = await new Visitor(world).signIn(person.email)
  const path = `/advertisers/${advertiserId}/proposals`
  const send = (body: object) => self.post<{ proposal_id: number }>(path, body)
  const proposeChange = async (fields: object) => (await send({ offer_id: offerId, ...fields })).data.proposal_id
  return { offerId, advertiserId, person, self, path, send, proposeChange }
}

const show = async (offerId: number) => (await operator.get<ShownOffer>(`/offers/${offerId}`)).data
const review = async (id: number) => (await operator.get<Review>(`/offer-proposals/${id}`)).data
const approve = (id: number, body: object = {}) => operator.post<{ offer_id: number }>(`/offer-proposals/${id}/approve`, body) // prettier-ignore
const refuse = (id: number, reason = 'No.') => operator.post(`/offer-proposals/${id}/refuse`, { reason })
const NEW = {
  external_id: 'new-game',
  name: 'New game',
  category: 'game',
  destination_url: 'https://ads.example.com/?c={click_id}',
  goals: [{ name: 'Play', revenue: '4' }],
}
const mailAbout = async (proposalId: number) => {
  const writer = proposalDecisionWriter({ publicUrl: 'https://net.example' })
  const about = String(proposalId)
  return world.database.db.transaction().execute(async (trx) => ({ to: await writer.findRecipients(trx, about, new Date()), letter: await writer.write(trx, about, new Date()) })) // prettier-ignore
}

test('a new offer is nowhere before it is approved, with the payouts that the operator says', async () => {
  const { self, path, send, advertiserId, person } = await createOwn()
  const { status, data, text } = await send(NEW)
  assert.equal(status, 200, text)
  const id = data.proposal_id
  const count = await world.database.db.selectFrom('offers').select('offer_id').where('external_id', '=', 'new-game').execute() // prettier-ignore
  assert.deepEqual(count, [])
  const waiting = await review(id)
  assert.partialDeepStrictEqual(waiting, { status: 'waiting', is_new: true, offer_id: null, proposed_by: person.email, problem: null }) // prettier-ignore
  assert.deepEqual(waiting.record?.goals.map(({ name, revenue, payout }) => [name, revenue, payout]), [['Play', 4, null]]) // prettier-ignore
  assert.deepEqual(waiting.changes.map(({ field }) => field), ['name', 'category', 'destination_url', 'goals']) // prettier-ignore
  const bare = await approve(id)
  assert.deepEqual([bare.status, bare.error.details], [400, { 'goals.0.payout': 'Payout is missing.' }])
  const goals = waiting.record?.goals.map((goal) => ({ ...goal, payout: 3 }))
  const { data: approved } = await approve(id, { goals, hold: '7d' })
  assert.partialDeepStrictEqual(await show(approved.offer_id), { name: 'New game', advertiser_id: advertiserId, status: 'active', payout: 3, revenue: 4, hold: '7d' }) // prettier-ignore
  assert.partialDeepStrictEqual((await self.get<Own>(`${path}/${id}`)).data, { status: 'approved', offer_id: approved.offer_id }) // prettier-ignore
  const { letter } = await mailAbout(id)
  assert.match(letter?.text ?? '', /Your new offer new-game was approved\.\n\nDetails: https:\/\/net\.example/)
  const taken = await send({ ...NEW, name: 'Twice' })
  assert.match(taken.error.details?.['external_id'] ?? '', /already has this external ID/)
})

test('an approved change writes the fields that it names; the others stay as they are by then', async () => {
  const { offerId, proposeChange } = await createOwn({ name: 'Before', description: 'Old text' })
  const id = await proposeChange({
    name: 'After',
    countries: ['us', 'DE'],
    description: 'Old text',
    daily_click_cap: 50,
  })
  const { name: _name, ...before } = await show(offerId)
  assert.deepEqual((await review(id)).fields, ['name', 'countries', 'daily_click_cap'], 'what stays is not proposed')
  // Meanwhile the operator edits other fields, and one of the same.
  const goals = before.goals.map(({ goal_id: _id, ...goal }) => ({ ...goal, payout: goal.payout + 1, revenue: 20 }))
  const record = { name: 'Operator', category: 'game', destination_url: before.destination_url, goals, description: 'New text' } // prettier-ignore
  assert.equal((await operator.put(`/offers/${offerId}`, record)).status, 200)
  const changed = await review(id)
  assert.deepEqual(
    changed.changes.map(({ field, before: was, after, changed_since }) => [field, was, after, changed_since]),
    [
      ['name', 'Operator', 'After', true],
      ['countries', [], ['DE', 'US'], true],
      ['daily_click_cap', null, 50, false],
    ],
  )
  const stale = await approve(id, { seen_updated_at: '2020-01-01T00:00:00Z' })
  assert.deepEqual([stale.status, stale.error.code], [409, 'CONFLICT'], 'the operator has not seen the offer as it is')
  assert.equal((await approve(id, { seen_updated_at: changed.seen_updated_at })).status, 200)
  const after = await show(offerId)
  assert.partialDeepStrictEqual(after, { name: 'After', countries: ['DE', 'US'], description: 'New text', category: 'game', daily_click_cap: 50 }) // prettier-ignore
  assert.deepEqual(after.goals.map(({ payout }) => payout), goals.map(({ payout }) => payout)) // prettier-ignore
  const { data } = await operator.get<{ changes: { who: string; fields: { field: string }[] }[] }>(`/offers/${offerId}/history`) // prettier-ignore
  assert.deepEqual(data.changes[0]?.fields.map(({ field }) => field), ['name', 'countries', 'daily_click_cap']) // prettier-ignore
})

test('goals keep their payouts through renames and moves; one that is new waits for its own', async () => {
  const { offerId, proposeChange } = await createOwn()
  const before = await show(offerId)
  const swapped = [{ name: 'Purchase', revenue: 9 }, { name: 'Install the app', external_id: 'i', revenue: 0.5 }] // prettier-ignore
  const first = await proposeChange({ goals: swapped })
  const { warnings } = await review(first)
  assert.match(warnings.join(), /"Install the app" pays 1.00 USD and earns 0.50 USD/)
  await approve(first)
  const after = await show(offerId)
  const idsOf = (offer: ShownOffer) => Object.fromEntries(offer.goals.map(({ goal_id, payout }) => [payout, goal_id]))
  assert.deepEqual(idsOf(after), idsOf(before))
  assert.deepEqual(after.goals.map(({ name, payout, revenue }) => [name, payout, revenue]), [['Purchase', 5, 9], ['Install the app', 1, 0.5]]) // prettier-ignore
  const second = await proposeChange({ goals: [...swapped, { name: 'Level 9', revenue_percent: 20 }] })
  assert.deepEqual(
    (await review(second)).record?.goals.map(({ payout }) => payout),
    [5, 1, null],
  )
  assert.deepEqual((await approve(second)).error.details, { 'goals.2.payout': 'Payout is missing.' })
})

test('what is not for advertisers is refused: payouts, ranking, status, other owners, paths, goals without a price', async () => {
  const { offerId, send, self, path } = await createOwn()
  const other = await createOwn()
  const wrong: [object, RegExp | number][] = [
    [{ offer_id: offerId, payout: 9 }, /payout/],
    [{ offer_id: offerId, status: 'paused' }, /status/],
    [{ offer_id: offerId, boost: 3 }, /boost/],
    [{ offer_id: offerId, total_payout_cap: 3 }, /total_payout_cap/],
    [{ offer_id: offerId, goals: [{ name: 'Install', revenue: 1, payout: 1 }] }, /payout/],
    [{ offer_id: offerId, goals: [{ name: 'Install' }] }, /Enter what you pay/],
    [{ offer_id: offerId, image_url: '/manage/v1/me' }, /Upload the picture/],
    [{ offer_id: offerId, image_url: `/images/${'0'.repeat(32)}.png` }, /no such image/],
    [{ offer_id: offerId, destination_url: 'javascript:alert(1)' }, /http or https/],
    [{ offer_id: offerId, countries: ['US'] }, /Nothing would change/],
    [{ offer_id: offerId, external_id: 'other', name: 'x' }, /external_id of a new one/],
    [{ name: 'x' }, /external_id of a new one/],
    [{ offer_id: other.offerId, name: 'x' }, 404],
  ]
  for (const [body, expected] of wrong) {
    const { status, text } = await send(body)
    if (expected instanceof RegExp) assert.match(text, expected)
    assert.equal(status, expected instanceof RegExp ? 400 : expected, text)
  }
  const foreign = await other.proposeChange({ name: 'Theirs' })
  assert.equal((await self.get(`${path}/${foreign}`)).status, 404)
  assert.equal((await self.post(`${path}/${foreign}/withdraw`)).status, 404)
  assert.equal((await self.get(`/offer-proposals/${foreign}`)).status, 404)
  const reader = await visit(world, 'operator_reader')
  assert.equal((await reader.post(`/offer-proposals/${foreign}/approve`, {})).status, 403)
})

test('a picture is uploaded, kept while its proposal waits, and part of the offer once approved', async () => {
  const { self, advertiserId, offerId, proposeChange } = await createOwn()
  const { data } = await self.post<{ path: string }>(`/advertisers/${advertiserId}/images`, { content: PIXEL.toString('base64') }) // prettier-ignore
  const id = await proposeChange({ image_url: data.path })
  await world.database.pool.query("UPDATE images SET created_at = now() - interval '40 days'")
  await operator.post('/images', { content: Buffer.concat([PIXEL, Buffer.from('x')]).toString('base64') })
  assert.equal((await approve(id)).status, 200)
  assert.equal((await show(offerId)).image_url, data.path)
})

test('a refusal is read and mailed with its reason, to those who can still sign in', async () => {
  const { self, path, offerId, advertiserId, person, proposeChange } = await createOwn()
  const colleague = await createPerson(world, 'advertiser', { publisherId: null, advertiserId })
  const id = await proposeChange({ name: 'Free money' })
  assert.equal((await refuse(id, ' ')).status, 400)
  assert.equal((await refuse(id, 'Please keep the name.')).status, 200)
  assert.partialDeepStrictEqual((await self.get<Own>(`${path}/${id}`)).data, { status: 'refused', reason: 'Please keep the name.' }) // prettier-ignore
  assert.notEqual((await show(offerId)).name, 'Free money')
  const { to, letter } = await mailAbout(id)
  assert.deepEqual(to, [person.email, colleague.email])
  assert.match(letter?.text ?? '', /was refused\.\n\nThe operator wrote:\nPlease keep the name\./)
  await keepOut(world, { ...person, advertiser_id: advertiserId })
  await keepOut(world, { ...colleague, advertiser_id: advertiserId })
  assert.deepEqual((await mailAbout(id)).to, [])
  assert.equal((await self.post(path, { offer_id: offerId, name: 'x' })).status, 401)
})

test('a proposal stays when its author is disabled, and one that is written at that moment does not', async () => {
  const { offerId, advertiserId, person, proposeChange } = await createOwn()
  const id = await proposeChange({ name: 'Last words' })
  await keepOut(world, { ...person, advertiser_id: advertiserId })
  assert.equal((await review(id)).status, 'waiting')
  assert.equal((await approve(id)).status, 200)
  const by = { ...TESTER, id: person.id, email: person.email, role: 'advertiser' as const }
  await assert.rejects(propose(world.database.db, by, { advertiserId, offerId, fields: { name: 'Later' } }, new Date()), /may no longer do that/) // prettier-ignore
})

test('of several who decide at once one does, and the others are told', async () => {
  const { self, path, offerId, proposeChange } = await createOwn({ name: 'Before' })
  for (let round = 0; round < 4; round++) {
    const id = await proposeChange({ name: `Round ${round}` })
    const replies = await Promise.all([approve(id), refuse(id), self.post(`${path}/${id}/withdraw`), approve(id)])
    assert.deepEqual(
      replies.map(({ status }) => status).toSorted((a, b) => a - b),
      [200, 409, 409, 409],
    )
    const { status } = await review(id)
    assert.equal((await show(offerId)).name === `Round ${round}`, status === 'approved')
    const late = await refuse(id)
    assert.match(late.error.message, new RegExp(`was already ${status} by`))
  }
})

test('one proposal waits for each offer, and only so many for an advertiser, also when they come at once', async () => {
  const { self, path, send, advertiserId, proposeChange } = await createOwn()
  const id = await proposeChange({ name: 'First' })
  const { offer_id } = await review(id)
  assert.match((await send({ offer_id, name: 'Second' })).error.message, /already has an open proposal/)
  await self.post(`${path}/${id}/withdraw`)
  assert.equal((await send({ offer_id, name: 'Second' })).status, 200)
  const twins = await Promise.all([send(NEW), send(NEW)])
  assert.deepEqual(
    twins.map(({ status }) => status).toSorted((a, b) => a - b),
    [200, 409],
  )
  await world.database.pool
    .query(`INSERT INTO offer_proposals (advertiser_id, is_new, external_id, fields, before, proposed_by)
    SELECT ${advertiserId}, true, 'x' || n, '{}', '{}', 'x' FROM generate_series(1, ${MAX_WAITING - 3}) n`)
  const last = await Promise.all([send({ ...NEW, external_id: 'one' }), send({ ...NEW, external_id: 'two' })])
  assert.deepEqual(
    last.map(({ status }) => status).toSorted((a, b) => a - b),
    [200, 409],
  )
  assert.match(last.find(({ status }) => status === 409)?.error.message ?? '', /50 of your proposals are waiting/)
  const { data } = await self.get<Static<typeof OwnProposalList>>(`${path}?status=withdrawn`)
  assert.deepEqual(
    data.proposals.map(({ proposal_id }) => proposal_id),
    [id],
  )
})

test('an offer that moved to another advertiser is not changed, and its new name is not shown to the former one', async () => {
  const { self, path, offerId, proposeChange } = await createOwn()
  const { advertiserId: other } = await createOwn()
  const id = await proposeChange({ description: 'Mine' })
  await world.database.pool.query("UPDATE offers SET advertiser_id = $1, external_id = 'moved', name = 'Secret plans' WHERE offer_id = $2", [other, offerId]) // prettier-ignore
  assert.equal((await review(id)).has_moved, true)
  const { status, error } = await approve(id)
  assert.deepEqual([status, error.message], [409, 'This offer now belongs to another advertiser. Refuse the proposal.']) // prettier-ignore
  assert.doesNotMatch((await self.get(path)).text, /Secret plans/)
  assert.equal((await refuse(id)).status, 200)
})

test('a proposal that does not fit the offer any more says so, and can be refused', async () => {
  const { offerId, proposeChange } = await createOwn()
  const id = await proposeChange({ ends_at: '2030-01-01T00:00:00Z' })
  await world.database.pool.query("UPDATE offers SET starts_at = '2031-01-01' WHERE offer_id = $1", [offerId])
  const { problem, record } = await review(id)
  assert.deepEqual([problem, record], ['Ends_at must be after starts_at.', null])
  assert.equal((await approve(id)).status, 400)
  assert.equal((await refuse(id)).status, 200)
})

test('a field of a feed is pinned by an approval, as by an edit of the operator', async () => {
  const { offerId, advertiserId, proposeChange } = await createOwn()
  await createFeedOf(world, { offerId, advertiserId })
  const pinned = async () => (await operator.get<{ feed: { pinned: { field: string }[] } | null }>(`/offers/${offerId}/feed`)).data.feed?.pinned.map(({ field }) => field) // prettier-ignore
  assert.deepEqual(await pinned(), ['name'])
  await approve(await proposeChange({ description: 'Ours' }))
  assert.deepEqual(await pinned(), ['name', 'description'])
})

test('operators see how many wait and are mailed at most once an hour; decided ones go in time', async () => {
  const { db } = world.database
  const { proposeChange } = await createOwn()
  const id = await proposeChange({ name: 'Counted' })
  const { data } = await operator.get<{ waiting_proposals: number }>('/me')
  assert.ok(data.waiting_proposals >= 1)
  const { length } = await db.selectFrom('mails').select('mail_id').where('kind', '=', 'proposals_waiting').execute()
  assert.ok(length === 1 || length === 2, 'the first, and one to come')
  const writer = proposalsWaitingWriter({ publicUrl: 'https://net.example' })
  const letter = await db.transaction().execute((trx) => writer.write(trx, 'queue', new Date()))
  assert.match(letter?.text ?? '', /advertiser proposals? .*https:\/\/net\.example\/network\/proposals/s)
  await refuse(id)
  const inAYear = new Date(Date.now() + 400 * DAY_MS)
  const waiting = (await operator.get<{ waiting_proposals: number }>('/me')).data.waiting_proposals
  await forgetOldProposals(db, 90, new Date())
  assert.equal((await review(id)).status, 'refused')
  await forgetOldProposals(db, 90, inAYear)
  assert.equal((await operator.get(`/offer-proposals/${id}`)).status, 404)
  assert.equal((await operator.get<{ waiting_proposals: number }>('/me')).data.waiting_proposals, waiting)
})
