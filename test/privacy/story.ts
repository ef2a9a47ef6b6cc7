// A world with a publisher's server, and what users do in it: all that leaves something of them in the database.
import { randomBytes, randomUUID } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after } from 'node:test'
import { loadConfig } from '../../src/config.ts'
import { setAdvertiser } from '../../src/features/accounts/advertiser-settings.ts'
import { banUser, liftBan, listBans } from '../../src/features/apps/bans.ts'
import { changeRewardSettings } from '../../src/features/apps/reward-settings.ts'
import { numberEvents } from '../../src/features/conversions/events.ts'
import { readMessages } from '../../src/features/conversions/messages.ts'
import { rollUp } from '../../src/features/ledger/rollup.ts'
import { createAppSender } from '../../src/features/postbacks/app-sender.ts'
import { Deliverer } from '../../src/features/postbacks/deliverer.ts'
import { DEFAULTS, saveSettings } from '../../src/features/postbacks/settings.ts'
import { rollUpBalances } from '../../src/features/users/rollup.ts'
import { answerTicket } from '../../src/features/wall/ticket-answers.ts'
import { openTicket } from '../../src/features/wall/tickets.ts'
import { PIXEL } from '../images.ts'
import { until } from '../installation.ts'
import { TESTER } from '../tester.ts'
import { SECRET_KEY, useWorld, type World } from '../world.ts'

/** The publisher's server answers with what it was sent, or with 500. */
export function useStories(name: string) {
  const publisher = { isDown: false, url: '', received: [] as string[] }
  const server = createServer((request, response) => {
    publisher.received.push(request.url ?? '')
    const parts: Buffer[] = []
    request.on('data', (part: Buffer) => parts.push(part))
    request.on('end', () => response.writeHead(publisher.isDown ? 500 : 200).end(`${request.url} ${Buffer.concat(parts).toString()}`)) // prettier-ignore
  })
  const world = useWorld(name, async () => {
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
    publisher.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    const closed = world.app
    world.app = await world.start({ trustProxy: ['127.0.0.1'] })
    await closed.close()
  })
  const sender = createAppSender(
    loadConfig({ SECRET_KEY, PUBLIC_URL: 'https://x.test', POSTBACK_ALLOW: '127.0.0.0/8' }),
  )
  after(async () => {
    await sender.close()
    server.closeAllConnections()
    await new Promise((done) => server.close(done))
  })
  const begin = async () => {
    const story = new Story(world)
    await story.begin(publisher.url, sender)
    return story
  }
  return { world, publisher, begin }
}

type Keys = Parameters<World['click']>[1]
export type Person = { userId: string; ip: string; subs: string[]; email: string; words: string; clicks: { offerId: number; clickId: string }[] } // prettier-ignore

/** Unlike anything else in the database. */
export const newPerson = (userId = `pérson ${randomBytes(8).toString('hex')}`): Person => ({
  userId,
  ip: `2001:db8:${randomBytes(2).toString('hex')}::${randomBytes(2).toString('hex')}:1`.replaceAll(
    /:0+(?=[\da-f])/g,
    ':',
  ),
  subs: [1, 2, 3, 4].map((n) => `sub${n}-${randomBytes(6).toString('hex')}`),
  email: `${randomBytes(6).toString('hex')}@example.com`,
  words: `words-${randomBytes(6).toString('hex')}`,
  clicks: [],
})
export const secretsOf = ({ userId, ip, subs, email, words }: Person) => [userId, ip, ...subs, email, words]

export class Story {
  readonly #world: World
  appId = 0
  live!: Keys
  offers: number[] = []
  people: Person[] = []
  deliverer!: Deliverer
  /** Of another app. */
  other!: Keys
  keys = 0

  constructor(world: World) {
    this.#world = world
  }

  async begin(url: string, sender: ReturnType<typeof createAppSender>): Promise<void> {
    const { db } = this.#world.database
    const { appId, live } = await this.#world.createApp()
    const { live: other } = await this.#world.createApp()
    Object.assign(this, { appId, live, other })
    await changeRewardSettings(db, TESTER, appId, { keepsBalance: true })
    await saveSettings(db, TESTER, SECRET_KEY, appId, {
      ...DEFAULTS,
      url: `${url}/?user={user_id}&sub={aff_sub}&ip={ip}`,
    })
    const goals = [{ name: 'install' }, { name: 'level', payout: '2' }]
    this.offers = await this.#world.createOffers({ hold: '0s' }, { hold: '0s', goals: goals.map((goal) => ({ payout: '1', ...goal })), payout: undefined }, { hold: '1d' }) // prettier-ignore
    const { advertiser_id } = await db.selectFrom('offers').select('advertiser_id').where('offer_id', '=', this.offers[0] ?? 0).executeTakeFirstOrThrow() // prettier-ignore
    await setAdvertiser(db, TESTER, advertiser_id, {
      allowedIps: ['127.0.0.1'],
      callRules: { ignored: [{ parameter: 'event', is: 'install', reason: 'Not paid.' }] },
    })
    this.people = [newPerson(), newPerson(), newPerson(), newPerson()]
    this.deliverer = new Deliverer({ db, secretKey: SECRET_KEY, sender, describe: readMessages, warn: () => {} })
    await this.#world.app.refresh()
  }

  user = ({ userId }: Person) => ({ appId: this.appId, isTest: false, userId })
  query = ({ userId, subs }: Person) =>
    `userId=${encodeURIComponent(userId)}&${subs.map((sub, i) => `aff_sub${i === 0 ? '' : i + 1}=${sub}`).join('&')}`

  async click(person: Person, offerId: number): Promise<void> {
    const { clickId } = await this.#world.click(offerId, this.live, this.query(person), { 'x-forwarded-for': person.ip }).catch(() => ({ clickId: '' })) // prettier-ignore
    if (clickId !== '') person.clicks.push({ offerId, clickId })
  }

  /** The advertiser sends along what it knows. */
  async confirm(person: Person, i: number, more: Record<string, string> = {}): Promise<void> {
    const click = person.clicks[i % Math.max(1, person.clicks.length)]
    if (click === undefined) return
    await this.#world.confirm(click.offerId, click.clickId, { txn_id: `t-${click.clickId}`, sub1: person.userId, s2: person.subs[1] ?? '', ip: person.ip, ...more }) // prettier-ignore
  }

  /** Clicks whose transaction a conversion has: another transaction names no user that anyone could find. */
  async #confirmed({ clicks }: Person): Promise<Person['clicks']> {
    const find = 'SELECT advertiser_transaction_id AS txn FROM conversions WHERE advertiser_transaction_id = ANY ($1)'
    const { rows } = await this.#world.database.pool.query<{ txn: string }>(find, [clicks.map(({ clickId }) => `t-${clickId}`)]) // prettier-ignore
    return clicks.filter(({ clickId }) => rows.some(({ txn }) => txn === `t-${clickId}`))
  }

  /** Names the transaction alone. */
  async confirmByTransaction(person: Person, i: number): Promise<void> {
    const told = await this.#confirmed(person)
    const click = told[i % Math.max(1, told.length)]
    if (click === undefined) return
    const query = new URLSearchParams({ txn_id: `t-${click.clickId}`, token: this.#world.tokenOf(click.offerId), user: person.userId, status: 'reversed' }) // prettier-ignore
    await this.#world.app.server.inject(`/postback?${query.toString()}`)
  }

  /** A callback that confirms nothing; the one for no goal names the transaction alone. Returns its outcome. */
  async confirmInVain(person: Person, i: number, kind: VainKind): Promise<string> {
    const clicks = kind === 'no goal' ? await this.#confirmed(person) : person.clicks
    const click = clicks[i % Math.max(1, clicks.length)]
    if (click === undefined) return ''
    const [url, token] = ['/postback', this.#world.tokenOf(click.offerId)]
    const more = { sub1: person.userId, s2: person.subs[1] ?? '', ip: person.ip }
    const named = { click_id: click.clickId, ...more }
    const query = (parameters: object) => `${url}?${new URLSearchParams({ token, ...parameters }).toString()}`
    const requests = {
      ignored: { url: query({ ...named, event: 'install' }) },
      'wrong status': { url: query({ ...named, status: 'what' }) },
      'wrong address': { url: query(named), headers: { 'x-forwarded-for': '203.0.113.9' } },
      unmapped: { url: query({ ...more, player: click.clickId }) },
      'no goal': { url: query({ ...more, txn_id: `t-${click.clickId}`, goal: 'no such' }) },
      malformed: { url: query({}), method: 'POST' as const, payload: `${JSON.stringify(named)},` },
    }
    const answer = await this.#world.app.server.inject(requests[kind])
    return (JSON.parse(answer.body) as { outcome: string }).outcome
  }

  async report(person: Person, offerId: number): Promise<void> {
    const key = { 'idempotency-key': `key ${this.appId} ${this.keys++}` }
    await this.#world.report(this.live, { userId: person.userId, offerId }, key)
  }

  async debit(person: Person): Promise<void> {
    await this.#world.get(`/v1/users/${encodeURIComponent(person.userId)}/debits`, this.live, { method: 'POST', payload: { amount: 1, note: person.words }, headers: { 'idempotency-key': `debit ${this.keys++}` } }) // prettier-ignore
  }

  async ticket(person: Person): Promise<void> {
    const { db } = this.#world.database
    const image = PIXEL.toString('base64')
    const seen = { country: 'US', device: 'mobile', os: 'android' }
    const wanted = { kind: 'question' as const, email: person.email, text: person.words, image, key: randomUUID() }
    const ticketId = await openTicket(db, this.user(person), seen, wanted, new Date()).catch(() => null)
    if (ticketId === null) return
    await answerTicket(db, TESTER, this.appId, ticketId, { key: randomUUID(), text: person.words, hasMail: true }, new Date()) // prettier-ignore
    // As earlier versions recorded it.
    await this.#world.database.pool.query(`INSERT INTO audit_log (who, action, subject, details) VALUES ('x', 'ticket.close', $1, jsonb_build_object('app_id', $2::bigint, 'user_id', $3::text))`, [ticketId, this.appId, person.userId]) // prettier-ignore
  }

  async banAndLift(person: Person): Promise<void> {
    const { db } = this.#world.database
    await banUser(db, TESTER, { appId: this.appId, userId: person.userId, reason: 'a mistake' })
    const [ban] = await listBans(db, { appId: this.appId, userId: person.userId }, 1)
    await liftBan(db, TESTER, ban?.ban_id ?? 0)
    await this.#world.app.refresh()
  }

  async ask(person: Person): Promise<void> {
    await this.#world.get(`/v1/offers?${this.query(person)}`, this.live)
    await this.#world.get(`/v1/offers?userid=${encodeURIComponent(person.userId)}`, this.live)
    await this.#world.get(`/v1/users/${encodeURIComponent(person.userId)}`, this.live)
  }

  async deliver(): Promise<void> {
    const { pool } = this.#world.database
    const open = `SELECT FROM postback_queue WHERE app_id = $1 AND state IN ('ready', 'sending', 'behind')`
    await until(async () => {
      await this.deliverer.run()
      return (await pool.query(open, [this.appId])).rowCount === 0
    })
  }

  async sumUp(): Promise<void> {
    const { db } = this.#world.database
    await rollUpBalances(db)
    await rollUp(db)
    await numberEvents(db)
  }

  async do({ what, who, n }: Action): Promise<void> {
    const person = this.people[who] as Person
    const offerId = this.offers[n % this.offers.length] ?? 0
    if (what === 'click') await this.click(person, offerId)
    else if (what === 'confirm') await this.confirm(person, n)
    else if (what === 'goal')
      await this.confirm(person, n, { goal: 'level', txn_id: `level-${person.clicks[0]?.clickId}` })
    else if (what === 'reverse') await this.confirm(person, n, { status: 'reversed' })
    else if (what === 'transaction') await this.confirmByTransaction(person, n)
    else if (what === 'vain') await this.confirmInVain(person, n, VAIN_KINDS[n % VAIN_KINDS.length] ?? 'ignored')
    else if (what === 'report') await this.report(person, offerId)
    else if (what === 'debit') await this.debit(person)
    else if (what === 'ticket') await this.ticket(person)
    else if (what === 'ban') await this.banAndLift(person)
    else if (what === 'ask') await this.ask(person)
    else if (what === 'deliver') await this.deliver()
    else await this.sumUp()
  }

  /** Until the request log is written, which is in the order of requests: its last one is of another app. */
  async settle(): Promise<void> {
    const last = `last-${randomUUID()}`
    await this.#world.app.refresh()
    await this.#world.get(`/v1/offers?userId=${last}`, this.other)
    const { pool } = this.#world.database
    const find = `SELECT FROM api_requests WHERE app_id <> $1 AND parameters->>'userId' = $2`
    await until(async () => (await pool.query(find, [this.appId, last])).rowCount === 1)
  }
}

export const VAIN_KINDS = ['ignored', 'wrong status', 'wrong address', 'unmapped', 'no goal', 'malformed'] as const
type VainKind = (typeof VAIN_KINDS)[number]

export const WHATS = ['click', 'confirm', 'goal', 'reverse', 'transaction', 'vain', 'report', 'debit', 'ticket', 'ban', 'ask', 'deliver', 'sum'] as const // prettier-ignore
export type Action = { what: (typeof WHATS)[number]; who: number; n: number }
