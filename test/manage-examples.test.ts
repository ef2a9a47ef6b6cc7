// The management API's examples in the OpenAPI description are what it really answers: one for each kind of reply.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { runAskedFeeds } from '../src/features/feeds/due-feeds.ts'
import { createGuardedOpener } from '../src/features/postbacks/app-sender.ts'
import { openTicket } from '../src/features/wall/tickets.ts'
import { PIXEL } from './images.ts'
import { until } from './installation.ts'
import { createPerson, PASSWORD, publisherOfApp, visit } from './people.ts'
import { createApplication, createLink, seen } from './sign-ups.ts'
import { checkExamples } from './steady-answers.ts'
import { Upstream } from './upstreams/server.ts'
import { upstreamOffer } from './upstreams/shapes.ts'
import { SECRET_KEY, useWorld } from './world.ts'

const world = useWorld('manage_examples')
world.config = { ...world.config, postbackAllow: ['127.0.0.1/32'] } // where a test plays a network
const PREFIX = '/manage/v1'
const MANY = 1 // of a longer list, so many are shown
const NOT_SHOWN = ['System', 'WallPreview', 'WallSdk'] // differ from machine to machine, and from second to second

const OFFER = {
  name: 'Island Builder',
  description: 'Build your island and reach level 10.',
  category: 'game',
  image_url: 'https://cdn.example.com/island-builder.png',
  payout: '2.25',
}

type Operation = { method: string; path: string; pattern: RegExp; query: string[]; reply: string | undefined }

/** The operations that answer with JSON, and the name of what they answer with. */
function listOperations(): Operation[] {
  const { paths, components } = world.app.server.describe()
  const refOf = (text: string, kind: string) => new RegExp(`components/${kind}/(\\w+)`).exec(text)?.[1]
  return Object.entries(paths)
    .filter(([path]) => path.startsWith(PREFIX))
    .flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, { parameters = [], responses }]) => {
        const reply = JSON.stringify(responses['200'])
        const names = parameters.map((one) => String(one['name'] ?? refOf(JSON.stringify(one), 'parameters')))
        const own = path.slice(PREFIX.length)
        return {
          method: method.toUpperCase(),
          path: own,
          pattern: new RegExp(`^${own.replaceAll('.', '\\.').replaceAll(/\{\w+\}/g, '[^/]+')}$`),
          query: names.map((name) => name.toLowerCase()),
          reply:
            refOf(reply, 'responses') ??
            [...reply.replaceAll(/"example":.*?,"schema"/g, '').matchAll(/schemas\/(\w+)/g)].at(-1)?.[1],
        }
      }),
    )
    .filter(({ reply }) => reply !== undefined && components['schemas']?.[reply] !== undefined && reply !== 'CsvFile')
}

class Recorder {
  readonly answers: Record<string, unknown> = {}
  readonly operations = listOperations()
  readonly #visitor: Awaited<ReturnType<typeof visit>>

  constructor(visitor: Awaited<ReturnType<typeof visit>>) {
    this.#visitor = visitor
  }

  // oxlint-disable-next-line typescript/no-explicit-any -- each answer has its own shape
  ask = async (method: string, path: string, body?: object): Promise<any> => {
    const { status, text, data } = await this.#visitor.send(method, path, body)
    assert.equal(status, 200, `${method} ${path}: ${text}`)
    const [pathname = ''] = path.split('?')
    const operation = this.operations.find((one) => one.method === method && one.pattern.test(pathname))
    this.answers[operation?.reply ?? path] ??= { 200: cut(JSON.parse(text)) }
    return data
  }

  post = (path: string, body: object = {}) => this.ask('POST', path, body)
  get = (path: string) => this.ask('GET', path)
  hasAll = () => this.operations.flatMap(({ reply = '' }) => (reply in this.answers ? [] : [reply]))
}

/** A long list says no more than a short one. */
function cut(value: unknown): unknown {
  if (Array.isArray(value)) return value.slice(0, MANY).map(cut)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, part]) => [name, cut(part)]))
}

test('the examples of the management API are what it answers', async () => {
  const { appId, live } = await world.createApp()
  const publisherId = await publisherOfApp(world, appId)
  const [offerId = 0] = await world.createOffers(OFFER)
  const recorder = new Recorder(await visit(world, 'operator'))
  const ids = { publisher_id: publisherId, app_id: appId, offer_id: offerId }
  const integration = await integrate(recorder, ids)
  const traffic = await convert(recorder, { offerId, live })
  const uses = world.database.db.selectFrom('credential_uses').select('api_key').where('api_key', '=', live.api_key)
  await until(async () => (await uses.execute()).length > 0)
  await recorder.get(`/apps/${appId}`) // while the window of its rate limit is open
  const asked = await askForHelp(recorder, appId, offerId)
  const money = await pay(recorder, { publisherId, ...traffic })
  const fed = await feed(recorder)
  await invite(recorder, publisherId)
  await review(recorder)
  await world.app.refresh()
  await recorder.get(`/search?q=${traffic.conversion_id}`)
  const all: Record<string, unknown> = { ...ids, ...integration, ...traffic, ...asked, ...money, ...fed }
  all['advertiser_id'] = traffic.payerId // whose offer it is
  await recorder.post(`/advertisers/${traffic.payerId}/postback-tests`, { offer_id: offerId })
  await recorder.ask('PATCH', `/advertisers/${traffic.payerId}/budget`, { daily: 500, total: 20_000 })
  await recorder.post(`/advertisers/${traffic.payerId}/decisions/preview`, {
    csv: 'transaction_id,status\nT-1001,approved\n',
  })
  await recorder.post(`/apps/${appId}/users/user-43/erasure`)
  all['proposal_id'] = await proposeChanges(recorder, traffic.payerId, offerId)
  for (const { method, path, query, reply = '' } of recorder.operations) {
    if (method !== 'GET' || reply in recorder.answers || NOT_SHOWN.includes(reply)) continue
    const filled = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => String(all[name]))
    // Which of two offers is first depends on whether they were created within the same second.
    const search = path === '/apps/{app_id}/offers' ? '&search=Builder%202' : ''
    await recorder.get(query.includes('limit') ? `${filled}?limit=1${search}` : filled)
  }
  await recorder.ask('DELETE', `/feeds/${fed.feed_id}`)
  assert.deepEqual(
    recorder.hasAll().filter((name) => !NOT_SHOWN.includes(name)),
    [],
    'every kind of reply has an example',
  )
  checkExamples(recorder.answers, 'src/http/manage-examples.json')
})

/** One proposal that is approved, and one that waits, whose ID it returns. */
async function proposeChanges({ post }: Recorder, advertiserId: number, offer_id: number) {
  const path = `/advertisers/${advertiserId}/proposals`
  const { proposal_id } = await post(path, { offer_id, description: 'Build your island and reach level 12.' })
  await post(`/offer-proposals/${proposal_id}/approve`, {})
  return (await post(path, { offer_id, countries: ['US', 'CA'], daily_conversion_cap: 200 })).proposal_id
}

/** A publisher that signed up, and one that has yet to open the mailed link. */
async function review({ post, get }: Recorder) {
  const label = 'Which sites and apps would show offers?'
  const question = { question_id: 'sites', label, kind: 'long_text' as const, is_required: true, choices: [] }
  const terms = { version: 'v2', url: 'https://example.com/terms', text: null }
  const form = { accepted: seen(terms), answers: [{ question_id: 'sites', answer: 'island.example.com' }] }
  const id = await createApplication(world, { ...form, company: 'Island Rewards' }, { terms, questions: [question] })
  await get(`/publishers/${id}/application`)
  await post('/sign-up/link', { token: await createLink(world, form) })
}

type Ids = { publisher_id: number; app_id: number; offer_id: number }

/** Settings and keys of an app, and what an operator decides for it. */
async function integrate({ post, ask }: Recorder, { publisher_id, app_id, offer_id }: Ids) {
  const url = 'https://publisher.example.com/postbacks?user={user_id}&amount={reward}'
  await ask('PUT', `/apps/${app_id}/postback`, { url })
  await post(`/apps/${app_id}/postback/preview`, { url })
  const { test_id } = await post(`/apps/${app_id}/postback/tests`, { scenarios: ['approved'] })
  const { locker_id } = await post(`/apps/${app_id}/lockers`, {
    name: 'Bonus chapter',
    slug: 'bonus-chapter',
    link: { target_url: 'https://files.example.com/bonus' },
  })
  await post(`/lockers/${locker_id}/take-down`, { reason: 'Phishing' })
  await post(`/apps/${app_id}/trust`, { trusted: true, offer_ids: [offer_id] })
  await ask('PUT', `/apps/${app_id}/currency`, { currency: 'Coins', rate: 100 })
  const made = await post(`/publishers/${publisher_id}/apps`, { name: 'Second app', currency: 'Gems', rate: 100 })
  const second = `/apps/${made.app_id}/credentials/live`
  await post(`${second}/rotate`, { grace_hours: 24 })
  await post(`${second}/end-old-secret`)
  await post(`${second}/signing-secret/rotate`, { grace_hours: 24 })
  await post('/publishers', { name: 'Northwind Games', email: 'team@example.com' })
  const { advertiser_id } = await post('/advertisers', { name: 'Harbor Studios' })
  await post(`/advertisers/${advertiser_id}/rotate-token`, { grace: '24h' })
  const copy = { external_id: 'island-builder-2', name: 'Island Builder 2' }
  const { offer_id: copied } = await post(`/offers/${offer_id}/duplicate`, copy)
  await post('/images', { content: PIXEL.toString('base64') })
  await post('/offers/status', { offer_ids: [copied], status: 'active' })
  await ask('PUT', '/fraud/rules', { signal: 'too_fast', threshold: 5, action: 'hold' })
  const content = JSON.stringify([{ ...OFFER, advertiser: 'Harbor Studios', external_id: 'island-builder' }])
  const { import_id } = await post('/offer-imports', { file_name: 'offers.json', format: 'json', content })
  await post('/bans', { app_id, user_id: 'user-13', reason: 'Uses several accounts' })
  return { test_id, advertiser_id, import_id, locker_id }
}

/** A ticket of a user, with an image and an answer. */
async function askForHelp({ post, get }: Recorder, appId: number, offer_id: number) {
  const user = { appId, isTest: false, userId: 'user-42' }
  const seen = { country: 'US', device: 'mobile', os: 'android' }
  const text = 'I reached level 10 and got no coins.'
  const asked = { key: randomUUID(), kind: 'not_credited' as const, text, offer_id, image: PIXEL.toString('base64') }
  const ticket_id = await openTicket(world.database.db, user, seen, asked, new Date())
  const { messages } = await get(`/apps/${appId}/tickets/${ticket_id}`)
  await post(`/apps/${appId}/tickets/${ticket_id}/messages`, { key: randomUUID(), text: 'We are looking into it.' })
  return { ticket_id, message_id: messages[0].message_id }
}

/** Clicks, confirmations, and what an operator does about some of them. */
async function convert({ post, get }: Recorder, { offerId, live }: { offerId: number; live: Keys }) {
  const completed = async (query: string, more = {}) => {
    const { clickId } = await world.click(offerId, live, query)
    return world.confirm(offerId, clickId, more)
  }
  const { conversion_id } = await completed('userId=user-42&aff_sub=mail')
  const { conversion_id: wrong } = await completed('userId=user-43')
  await completed('userId=user-44', { status: 'certainly' })
  const reason = 'Two accounts of one person'
  await post('/conversions/moves', { to: 'reversed', conversion_ids: [wrong], status_reason: 'fraud', reason })
  const { calls } = await get('/inbound-calls?outcome=invalid')
  const inbound_ids = [calls[0].inbound_id]
  await post('/inbound-calls/reprocess', { inbound_ids })
  await post('/inbound-calls/dismiss', { inbound_ids })
  const { conversions } = await get('/conversions?limit=1')
  const { app_id, advertiser_id } = (await get(`/conversions/${conversion_id}`)) as Record<string, number>
  const { postbacks } = await get(`/apps/${conversions[0].app_id}/postbacks?limit=1`)
  const { postback_id } = postbacks[0]
  await post(`/apps/${conversions[0].app_id}/postbacks/${postback_id}/replay`)
  const { replay_id } = await post(`/apps/${conversions[0].app_id}/postback/replays`, { state: 'dead' })
  return { conversion_id, postback_id, replay_id, payerId: advertiser_id ?? 1, appOfConversion: app_id }
}

/** Balances, payment runs, and corrections. */
async function pay({ post, get }: Recorder, { publisherId, payerId }: { publisherId: number; payerId: number }) {
  const bonus = { publisher_id: publisherId, amount: 20, reference: 'bonus-1', reason: 'A good month' }
  await post('/ledger/adjustments', bonus)
  const cancelled = await post('/ledger/payment-runs', { minimum: 1 })
  await post(`/ledger/payment-runs/${cancelled.run_id}/export`)
  await post(`/ledger/payment-runs/${cancelled.run_id}/cancel`, { reason: 'Paid next month' })
  const { run_id } = await post('/ledger/payment-runs', { minimum: 1 })
  await post(`/ledger/payment-runs/${run_id}/export`)
  await post(`/ledger/payment-runs/${run_id}/pay`)
  await post('/ledger/adjustments', { ...bonus, reference: 'bonus-2' })
  await post('/ledger/payouts', { publisher_id: publisherId, amount: 5, reference: 'transfer-2' })
  await post('/ledger/receipts', { advertiser_id: payerId, amount: 1, reference: 'invoice-7' })
  const { payments } = await get('/ledger/payments?kind=payout&limit=1')
  await post(`/ledger/payments/${payments[0].posting_id}/void`, { reason: 'The transfer came back' })
  return { run_id, month: new Date().toISOString().slice(0, 7) }
}

/** A feed with a payout that waits, and an offer that was edited. */
async function feed({ post, ask, get }: Recorder) {
  const upstream = await new Upstream('lootably').open()
  upstream.offers = [upstreamOffer(1), upstreamOffer(2)]
  const { request, mapping, credentials } = upstream.source
  const settings = { share_percent: 70, hold_changes_percent: 25 }
  const { feed: made } = await post('/feeds', { name: 'Tidewater Network', request, mapping, credentials, settings })
  const one = `/feeds/${made.feed_id}`
  const run = async () => {
    const { feed_run_id } = await post(`${one}/run`)
    await runAskedFeeds({ db: world.database.db, secretKey: SECRET_KEY, open: createGuardedOpener(world.config) }, assert.fail) // prettier-ignore
    await get(`${one}/runs/${feed_run_id}`)
    return { feed_run_id, ...(await get(`${one}/runs/${feed_run_id}/changes`)) }
  }
  const { feed_run_id, changes } = await run()
  const [{ external_id, offer_id }] = changes
  upstream.offers = [{ ...upstreamOffer(1), payout: 9 }, upstreamOffer(2)]
  await run()
  await get(`${one}/held`)
  await post(`${one}/approve`, { external_ids: [external_id] })
  await world.database.db
    .updateTable('offers')
    .set({ name: 'Harbor Lights' })
    .where('offer_id', '=', offer_id)
    .execute()
  await get(`/offers/${offer_id}/feed`)
  await post(`/offers/${offer_id}/follow-feed`, { fields: ['name'] })
  await post('/feeds/sample', { feed_id: made.feed_id, request, credentials: {} })
  const answer = { data: { offers: [{ offerID: '7', name: 'Harbor Lights', revenue: 2, link: 'https://track.example.com/?u={userID}' }] } } // prettier-ignore
  await post('/feeds/try-mapping', { mapping, answer, settings })
  await ask('PUT', '/rates', {
    rates: [{ currency: 'EUR', day: new Date().toISOString().slice(0, 10), usd: '1.0842' }],
  })
  return { feed_id: made.feed_id, feed_run_id }
}

/** People: invitations, sessions, tokens, passwords. */
async function invite({ post }: Recorder, publisherId: number) {
  const { email } = await createPerson(world, 'operator', null, { name: 'Olga', email: 'olga@example.com' })
  await post('/session', { email, password: PASSWORD })
  const invitation = { email: 'dora@example.com', role: 'publisher_developer' }
  const { url } = await post(`/publishers/${publisherId}/invitations`, invitation)
  await post('/invitation', { token: String(url).split(/[#=/]/).at(-1) })
  await post('/me/tokens', { name: 'Nightly report', scopes: ['read'], expires_in_days: 90 })
  await post('/password/forgot', { email: 'dora@example.com' })
  await post('/me/two-factor', { password: PASSWORD })
  await post('/me/password', { current_password: PASSWORD, new_password: 'another correct horse' })
}

type Keys = Awaited<ReturnType<typeof world.createApp>>['live']
