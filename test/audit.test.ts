// A change and its audit entry are one: every operation of the management API is run while the audit log accepts
// nothing, and must leave everything as it was; then again, and must leave a change and an entry. A new operation needs
// an example here, or a reason why it has none.
import { PIXEL } from './images.ts'
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { askQuestion } from './ask-question.ts'
import { DEFAULTS } from '../src/features/wall/settings-schema.ts'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Deal, createConversion, createDeal } from './conversion-rows.ts'
import { verificationWriter } from '../src/features/accounts/email-verification.ts'
import { invite } from '../src/features/accounts/invitations.ts'
import { createResetLink } from '../src/features/accounts/reset-links.ts'
import { createLocker } from '../src/features/lockers/lockers.ts'
import { storeImage } from '../src/features/offers/images.ts'
import { createPerson, PASSWORD, totp, visit, Visitor } from './people.ts'
import { SECRET_KEY, useWorld } from './world.ts'
import { advertiserSteps } from './advertiser-rows.ts'
import { createFeedOf, createRefusedRun, feedSteps } from './feed-rows.ts'
import { signUpSteps } from './sign-ups.ts'
import { hashTables } from './table-hashes.ts'
import { TESTER } from './tester.ts'
import { UNAUDITED } from './unaudited.ts'

type Step = { id: string; method: string; path: string; body?: unknown; as?: Visitor }

let deal: Deal
let operator: Visitor
let steps: Step[]
const world = useWorld('audit', async () => {
  deal = await createDeal(world)
  operator = await visit(world, 'operator')
  await world.database.pool.query(`
    CREATE FUNCTION refuse_entry() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN RAISE EXCEPTION 'The audit log takes nothing.' USING ERRCODE = 'XX000'; END $$;
    CREATE TRIGGER refuse_entry BEFORE INSERT ON audit_log FOR EACH ROW EXECUTE FUNCTION refuse_entry();
    ALTER TABLE audit_log DISABLE TRIGGER refuse_entry`)
  steps = await createSteps()
})

const OFFER = {
  name: 'Made',
  category: 'app',
  destination_url: 'https://ads.example.com/?c={click_id}',
  goals: [{ name: 'Done', payout: 1 }],
}

async function createSteps(): Promise<Step[]> {
  const { appId, publisherId, offerId, advertiserId } = deal
  const [app, publisher, offer] = [`/apps/${appId}`, `/publishers/${publisherId}`, `/offers/${offerId}`]
  const lockerId = await createLocker(world.database.db, TESTER, world.config, appId, { name: 'Locker' })
  await askQuestion(world, appId)
  const feedId = await createFeedOf(world, deal)
  const refused = await createRefusedRun(world, deal)
  const { conversionId } = await createConversion(world, deal, {
    status: 'approved',
    payoutMicros: 90_000_000,
    revenueMicros: 90_000_000,
    at: new Date(),
  })
  const step = (id: string, method: string, path: string, body?: unknown): Step => ({ id, method, path, body })
  return [
    step('createPublisher', 'POST', '/publishers', { name: 'New' }),
    step('changePublisher', 'PATCH', publisher, { email: 'money@example.com' }),
    step('changePermissions', 'PATCH', `${publisher}/permissions`, { margin_percent: 10 }),
    step('createApp', 'POST', `${publisher}/apps`, { name: 'Second', currency: 'Gems', rate: 10 }),
    step('changeApp', 'PATCH', app, { name: 'Renamed' }),
    step('changeRewardSettings', 'PATCH', `${app}/rewards`, { kind: 'tracking' }),
    step('setCurrency', 'PUT', `${app}/currency`, { currency: 'Gems', rate: 7 }),
    step('setRateLimit', 'PUT', `${app}/rate-limit`, { rate_limit: 5_000 }),
    step('changeTrust', 'POST', `${app}/trust`, { trusted: true, offer_ids: [offerId] }),
    step('createLocker', 'POST', `${app}/lockers`, { name: 'New' }),
    step('setLocker', 'PUT', `${app}/lockers/${lockerId}`, { name: 'Other' }),
    step('takeDownLocker', 'POST', `/lockers/${lockerId}/take-down`, { reason: 'spam' }),
    step('restoreLocker', 'POST', `/lockers/${lockerId}/restore`, {}),
    step('setWallSettings', 'PUT', `${app}/wall`, { ...DEFAULTS, title: 'Offers' }),
    step('uploadWallImage', 'POST', `${app}/wall/images`, { content: PIXEL.toString('base64') }),
    step('setContentRules', 'PUT', `${app}/content-rules`, {
      blocked_categories: ['survey'],
      blocked_keywords: [],
      payment_offers: true,
    }),
    step('rotateSecret', 'POST', `${app}/credentials/live/rotate`, { grace_hours: 1 }),
    step('endOldSecret', 'POST', `${app}/credentials/live/end-old-secret`),
    step('rotateSigningSecret', 'POST', `${app}/credentials/live/signing-secret/rotate`, { grace_hours: 1 }),
    step('setKeyExpiry', 'PUT', `${app}/credentials/live/expiry`, { expires_at: '2090-01-01T00:00:00Z' }),
    step('savePostbackSettings', 'PUT', `${app}/postback`, { url: 'https://example.com/?u={user_id}' }),
    step('startPostbackTest', 'POST', `${app}/postback/tests`, { scenarios: ['approved'] }),
    step('replayPostbackOfApp', 'POST', `${app}/postbacks/LATEST_POSTBACK/replay`),
    step('startReplay', 'POST', `${app}/postback/replays`, {}),
    step('cancelReplay', 'POST', `${app}/postback/replays/LATEST_REPLAY/cancel`),
    step('pausePostbackLane', 'POST', `/postback-lanes/${appId}/pause`),
    step('resumePostbackLane', 'POST', `/postback-lanes/${appId}/resume`),
    step('pausePostbackLane', 'POST', `/postback-lanes/${appId}/pause`),
    step('resumePostbacks', 'POST', `${app}/postback/resume`),
    step('removePostbackSettings', 'DELETE', `${app}/postback`),
    ...(await advertiserSteps(world, deal)).map((one) => step(...one)),
    step('setCallbackSignature', 'PUT', `/advertisers/${advertiserId}/signature`, { signature: { algorithm: 'hmac-sha1', of: '{url}', encoding: 'hex', parameter: 'hash', header: null }, secret: 'x' }), // prettier-ignore
    ...feedSteps(feedId, refused, offer).map(([id, method, path, body]) => step(id, method, path, body)),
    step('dismissInboundCalls', 'POST', '/inbound-calls/dismiss', { inbound_ids: [await refusedCall()] }),
    step('reprocessInboundCalls', 'POST', '/inbound-calls/reprocess', { inbound_ids: [await refusedCall()] }),
    step('createOffer', 'POST', '/offers', { ...OFFER, advertiser_id: advertiserId, external_id: 'made' }),
    step('changeOffer', 'PUT', offer, { ...OFFER, name: 'Changed' }),
    step('pauseOffer', 'POST', `${offer}/pause`),
    step('resumeOffer', 'POST', `${offer}/resume`),
    step('setOfferStatuses', 'POST', '/offers/status', { offer_ids: [offerId], status: 'paused' }),
    step('setOfferStatuses', 'POST', '/offers/status', { offer_ids: [offerId], status: 'active' }),
    step('uploadImage', 'POST', '/images', { content: PIXEL.toString('base64') }),
    step('setLogo', 'PUT', '/system/logo', { path: (await storeImage(world.database.db, TESTER, PIXEL)).path }),
    step('duplicateOffer', 'POST', `${offer}/duplicate`, { external_id: 'copy' }),
    step('runOfferImport', 'POST', `/offer-imports/${await uploaded()}/run`),
    step('eraseUserOfApp', 'POST', `${app}/users/u/erasure`, {}),
    step('banUser', 'POST', '/bans', { user_id: 'u', reason: 'fraud' }),
    step('liftBan', 'DELETE', '/bans/LATEST_BAN'),
    step('setFraudRule', 'PUT', '/fraud/rules', { signal: 'too_fast', threshold: 5, action: 'hold' }),
    step('deleteFraudRule', 'DELETE', '/fraud/rules/too_fast'),
    step('recordPayout', 'POST', '/ledger/payouts', { publisher_id: publisherId, amount: 1, reference: 'r' }),
    step('voidPayment', 'POST', '/ledger/payments/LATEST_PAYMENT/void', { reason: 'It bounced.' }),
    step('recordAdjustment', 'POST', '/ledger/adjustments', {
      publisher_id: publisherId,
      amount: 5,
      reference: 'bonus',
      reason: 'A good month.',
    }),
    step('createPaymentRun', 'POST', '/ledger/payment-runs', {}),
    step('cancelPaymentRun', 'POST', '/ledger/payment-runs/LATEST_RUN/cancel', { reason: 'Too early.' }),
    step('createPaymentRun', 'POST', '/ledger/payment-runs', {}),
    step('exportPaymentRun', 'POST', '/ledger/payment-runs/LATEST_RUN/export'),
    step('payPaymentRun', 'POST', '/ledger/payment-runs/LATEST_RUN/pay', {}),
    step('recordReceipt', 'POST', '/ledger/receipts', { advertiser_id: advertiserId, amount: 1, reference: 'r' }),
    step('moveConversions', 'POST', '/conversions/moves', {
      to: 'reversed',
      conversion_ids: [conversionId],
      reason: 'A chargeback.',
    }),
    step('answerTicket', 'POST', `${app}/tickets/LATEST_TICKET/messages`, { key: crypto.randomUUID(), text: 'Yes.' }),
    step('changeTicket', 'PATCH', `${app}/tickets/LATEST_TICKET`, { status: 'closed' }),
    step('revokeKey', 'POST', `${app}/credentials/test/revoke`),
    step('revokeApp', 'POST', `${app}/revoke`),
    ...(await signUpSteps(world)),
    ...(await createAccountSteps(publisher)),
  ]
}

async function createAccountSteps(publisher: string): Promise<Step[]> {
  const step = (id: string, method: string, path: string, body?: unknown): Step => ({ id, method, path, body })
  const { db } = world.database
  const owner = await createPerson(world, 'publisher_owner', deal.publisherId)
  const viewer = await createPerson(world, 'publisher_viewer', deal.publisherId)
  const reader = await createPerson(world, 'operator_reader')
  const self = await new Visitor(world).signIn(owner.email)
  await new Visitor(world).signIn(owner.email)
  const { data } = await self.get<{ sessions: { id: string; is_current: boolean }[] }>('/me/sessions')
  const elsewhere = data.sessions.find(({ is_current }) => !is_current)?.id
  const setUp = await self.post<{ uri: string }>('/me/two-factor', { password: PASSWORD })
  const secret = new URL(setUp.data.uri).searchParams.get('secret') ?? ''
  const invited = {
    email: 'joins@example.com',
    role: 'publisher_viewer',
    publisherId: deal.publisherId,
    invitedBy: null,
  }
  const { token } = await db
    .transaction()
    .execute((trx) => invite(trx, TESTER, SECRET_KEY, invited as never, new Date()))
  const url = await db
    .transaction()
    .execute((trx) => createResetLink(trx, SECRET_KEY, { publicUrl: '', personId: viewer.id }, new Date()))
  const letter = await db
    .transaction()
    .execute((trx) => verificationWriter({ secretKey: SECRET_KEY, publicUrl: '' }).write(trx, owner.id, new Date()))
  const proof = /\S+#\S+/.exec(letter?.text ?? '')?.[0] ?? ''
  const password = 'another long password'
  const ofSelf = [
    step('endSession', 'DELETE', `/me/sessions/${elsewhere}`),
    step('changeProfile', 'PATCH', '/me', { name: 'Renamed' }),
    step('createToken', 'POST', '/me/tokens', { name: 'Job' }),
    step('revokeToken', 'DELETE', '/me/tokens/LATEST_TOKEN'),
    step('confirmTwoFactor', 'POST', '/me/two-factor/confirm', () => ({ code: totp(secret) })),
    step('disableTwoFactor', 'POST', '/me/two-factor/disable', { password: PASSWORD }),
    step('changePassword', 'POST', '/me/password', { current_password: PASSWORD, new_password: password }),
    step('signOut', 'DELETE', '/session'),
  ].map((one) => ({ ...one, as: self }))
  return [
    step('inviteOfPublisher', 'POST', `${publisher}/invitations`, { email: 'a@example.com', role: 'publisher_viewer' }),
    step('revokeInvitationOfPublisher', 'DELETE', `${publisher}/invitations/LATEST_INVITATION`),
    step('inviteOfNetwork', 'POST', '/operators/invitations', { email: 'b@example.com', role: 'operator_reader' }),
    step('revokeInvitationOfNetwork', 'DELETE', '/operators/invitations/LATEST_INVITATION'),
    step('changePersonOfPublisher', 'PATCH', `${publisher}/people/${viewer.id}`, { role: 'publisher_finance' }),
    step('changePersonOfNetwork', 'PATCH', `/operators/people/${reader.id}`, { disabled: true }),
    step('acceptInvitation', 'POST', '/invitation/accept', { token, name: 'Joe', password }),
    step('resetPassword', 'POST', '/password/reset', { token: url.split('#')[1]?.replace(/^.*=/, ''), password }),
    step('verifyEmail', 'POST', '/email/verify', { token: proof.split('#')[1] }),
    ...ofSelf,
  ].map((one) =>
    ['acceptInvitation', 'resetPassword', 'verifyEmail'].includes(one.id) ? { ...one, as: new Visitor(world) } : one,
  )
}

/** A call that was refused for its status, and can be processed again. */
async function refusedCall(): Promise<string> {
  const { clickId } = await world.click(deal.offerId, (await world.createApp()).live)
  await world.confirm(deal.offerId, clickId, { status: 'what' })
  const { data } = await operator.get<{ calls: { inbound_id: string }[] }>('/inbound-calls')
  return data.calls[0]?.inbound_id ?? ''
}

async function uploaded(): Promise<string> {
  const content = JSON.stringify([{ ...OFFER, advertiser: await advertiserName(), external_id: 'imported' }])
  const file = { file_name: 'o.json', format: 'json', content }
  const { data } = await operator.post<{ import_id: string }>('/offer-imports', file)
  await importIs(data.import_id, 'checked')
  return data.import_id
}

async function importIs(importId: string, state: string): Promise<void> {
  for (;;) {
    const { data } = await operator.get<{ state: string; fault: string | null }>(`/offer-imports/${importId}`)
    if (data.state === state) return
    assert.notEqual(data.state, 'failed', data.fault ?? '')
    await sleep(50)
  }
}

const advertiserName = async () => (await world.database.db.selectFrom('advertisers').select('name').where('advertiser_id', '=', deal.advertiserId).executeTakeFirstOrThrow()).name // prettier-ignore

const countEntries = async () =>
  Number((await world.database.pool.query('SELECT count(*) FROM audit_log')).rows[0]?.count)

async function latest(table: string, id: string): Promise<string> {
  const { rows } = await world.database.pool.query(`SELECT ${id} AS id FROM ${table} ORDER BY ${id} DESC LIMIT 1`)
  return String(rows[0]?.id ?? '')
}

async function latestPayment(): Promise<string> {
  const { rows } = await world.database.pool.query(
    "SELECT posting_id FROM ledger_entries WHERE kind = 'payout' ORDER BY entry_id DESC LIMIT 1",
  )
  return String(rows[0]?.posting_id ?? '')
}

async function send({ method, path, body, as = operator }: Step) {
  const filled = path
    .replace('LATEST_POSTBACK', await latest('postbacks', 'postback_id'))
    .replace('LATEST_TICKET', await latest('tickets', 'ticket_id'))
    .replace('LATEST_REPLAY', await latest('postback_replays', 'replay_id'))
    .replace('LATEST_TOKEN', await latest('access_tokens', 'token_id'))
    .replace('LATEST_INVITATION', await latest('invitations', 'invitation_id'))
    .replace('LATEST_PROPOSAL', await latest('offer_proposals', 'proposal_id'))
    .replace('LATEST_BAN', await latest('banned_users', 'ban_id'))
    .replace('LATEST_RUN', await latest('payment_runs', 'run_id'))
    .replace('LATEST_PAYMENT', await latestPayment())
  return as.send(method, filled, typeof body === 'function' ? (body as () => unknown)() : body)
}

test('no change stays without its entry, and every change has one', async () => {
  const wrong: string[] = []
  for (const step of steps) {
    const before = await hashTables(world.database.pool)
    await world.database.pool.query('ALTER TABLE audit_log ENABLE TRIGGER refuse_entry')
    const refused = await send(step)
    await world.database.pool.query('ALTER TABLE audit_log DISABLE TRIGGER refuse_entry')
    const after = await hashTables(world.database.pool)
    const changed = Object.keys(after).filter((table) => after[table] !== before[table])
    if (refused.status !== 500) wrong.push(`${step.id}: ${refused.status} without an entry ${refused.text}`)
    if (changed.length > 0) wrong.push(`${step.id}: changed ${changed.join(', ')} without an entry`)

    const entries = await countEntries()
    const done = await send(step)
    if (done.status !== 200) wrong.push(`${step.id}: ${done.status} ${done.text}`)
    if (step.id === 'runOfferImport') await importIs(step.path.split('/')[2] ?? '', 'done')
    if ((await countEntries()) === entries) wrong.push(`${step.id}: no entry`)
    const made = await hashTables(world.database.pool)
    if (Object.keys(made).every((table) => made[table] === after[table])) wrong.push(`${step.id}: no change`)
  }
  assert.deepEqual(wrong, [])
})

test('every operation that changes something is among them', async () => {
  const { text } = await world.get('/openapi.json')
  const { paths } = JSON.parse(text) as { paths: Record<string, Record<string, { operationId: string }>> }
  const writes = Object.entries(paths)
    .filter(([path]) => path.startsWith('/manage/v1'))
    .flatMap(([, methods]) => Object.entries(methods).filter(([method]) => method !== 'get'))
    .map(([, { operationId }]) => operationId)
  const known = new Set([...steps.map(({ id }) => id), ...Object.keys(UNAUDITED)])
  assert.deepEqual([...new Set(writes)].filter((id) => !known.has(id)), []) // prettier-ignore
  assert.deepEqual([...known].filter((id) => !writes.includes(id)), []) // prettier-ignore
})
