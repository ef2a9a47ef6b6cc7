// What users and visitors of lockers have: links, tickets with images, proofs, passes of pages with a password.
import { randomUUID } from 'node:crypto'
import type { IssuedCredentials } from '../../../src/features/apps/keys.ts'
import { createLocker, findLocker } from '../../../src/features/lockers/lockers.ts'
import type { LockerBoot, LockerState } from '../../../src/features/lockers/schema.ts'
import { signUser } from '../../../src/features/wall/signature.ts'
import { openTicket } from '../../../src/features/wall/tickets.ts'
import { PIXEL } from '../../images.ts'
import { TESTER } from '../../tester.ts'
import { BROWSER } from '../../world.ts'
import type { AppKeys, Callers } from './callers.ts'
import type { Place, Stock } from './stock.ts'

const TICKETS = 3
/** Of what can be used once. */
const EACH = 3
const LIFE_S = 80_000

export async function addVisitors(place: Place, { publisher, advertiser }: Callers, stock: Stock): Promise<void> {
  const [app] = publisher.apps as [AppKeys]
  await addLinks(place, app.live, stock)
  await addTickets(place, app, stock)
  await addLockers(place, app, advertiser.token, stock)
}

async function addLinks({ url }: Place, { api_key, api_secret }: IssuedCredentials, stock: Stock): Promise<void> {
  const answer = await fetch(`${url}/v1/offers?userId=follows`, { headers: { 'x-api-key': api_key, 'x-api-secret': api_secret } }) // prettier-ignore
  const { data } = (await answer.json()) as { data: { offers: { link: string }[] } }
  for (const { link } of data.offers) {
    const [, offer_id = '', token = ''] = /\/c\/(\d+)\/(.+)$/.exec(link) ?? []
    stock.add('followLink', { path: { offer_id, token: decodeURIComponent(token) } })
  }
}

async function addTickets({ world: { database } }: Place, { appId, live }: AppKeys, stock: Stock): Promise<void> {
  for (let i = 0; i < TICKETS; i++) {
    const userId = `asks-${i}`
    const user = { appId, isTest: false, userId }
    const question = { key: randomUUID(), kind: 'question', text: 'When?', image: PIXEL.toString('base64') } as const
    const seen = { country: null, device: null, os: null }
    const ticket_id = await openTicket(database.db, user, seen, question, new Date())
    const { message_id } = await database.db.selectFrom('ticket_messages').select('message_id').where('ticket_id', '=', ticket_id).executeTakeFirstOrThrow() // prettier-ignore
    const image = { ticket_id, message_id }
    const query = viewerOf(live, userId)
    stock.add('getTicketImage', { path: { app_id: String(appId), ...image } })
    stock.add('getWallTicketImage', { path: image, query })
    stock.add('writeToWallTicket', () => ({ path: { ticket_id }, query, body: { key: randomUUID(), text: 'I wait.' } }))
  }
}

/** As the publisher's server signs a user. */
function viewerOf({ api_key: apiKey, signing_secret }: IssuedCredentials, userId: string): [string, string][] {
  const expiresAtS = Math.floor(Date.now() / 1_000) + LIFE_S
  const sig = signUser(signing_secret, { apiKey, userId, expiresAtS })
  return Object.entries({ apiKey, userId, exp: String(expiresAtS), sig })
}

async function addLockers(place: Place, { appId }: AppKeys, token: string, stock: Stock): Promise<void> {
  const { db } = place.world.database
  const network = { publicUrl: place.url }
  const content = await createLocker(db, TESTER, network, appId, { name: 'Bonus' })
  const password = 'Open sesame 1'
  const target = { target_url: 'https://files.example.com/a.zip' }
  const linkId = await createLocker(db, TESTER, network, appId, { name: 'Files', password, link: target })
  const slug = (await findLocker(db, { lockerId: linkId }))?.slug ?? ''
  for (let i = 0; i < EACH; i++) {
    const known = await unlock(place, content, {}, token)
    stock.add('redeemProof', { path: { app_id: String(appId), locker_id: String(content) }, body: { proof: known.proof } }) // prettier-ignore
    stock.add('followLocker', { path: { locker_id: String(content) }, query: Object.entries({ visitor: known.visitor, key: known.key }) }) // prettier-ignore
    const before = await passOf(place, slug)
    stock.add('enterLinkPassword', { path: { slug }, body: { password, pass: before } })
    const { pass } = await ask<{ pass: string }>(place, `/l/${slug}/password`, { password, pass: before })
    const { visitor, key } = await unlock(place, linkId, { pass }, token)
    stock.add('openLink', { path: { slug }, body: { visitor, key, pass } })
  }
}

/** A new visitor completes an offer of this advertiser. */
async function unlock(place: Place, lockerId: number, known: object, token: string) {
  const visit = (who: object) => ask<LockerState>(place, `/locker/v1/lockers/${lockerId}/visits`, { ...known, ...who })
  const { visitor, key, offers } = await visit({})
  for (const { link } of offers) {
    const followed = await fetch(link, { redirect: 'manual', headers: BY_BROWSER })
    const clickId = /c=([0-9a-f-]{36})/.exec(followed.headers.get('location') ?? '')?.[1] ?? ''
    const confirmed = await fetch(`${place.url}/postback?click_id=${clickId}&txn_id=${randomUUID()}&token=${token}`)
    const { outcome } = (await confirmed.json()) as { outcome?: string }
    if (outcome === 'approved') break
  }
  const { proof } = await visit({ visitor, key })
  return { visitor, key, proof }
}

async function passOf({ url }: Place, slug: string): Promise<string> {
  const page = await (await fetch(`${url}/l/${slug}`, { headers: BY_BROWSER })).text()
  const boot = JSON.parse(/id="boot">(.*?)<\/script>/.exec(page)?.[1] ?? '{}') as Partial<LockerBoot>
  return boot.pass ?? ''
}

const BY_BROWSER = { 'user-agent': BROWSER }

async function ask<T>({ url }: Place, path: string, body: object): Promise<T> {
  const headers = { ...BY_BROWSER, 'content-type': 'application/json' }
  const answer = await fetch(`${url}${path}`, { method: 'POST', headers, body: JSON.stringify(body) })
  const { data, error } = (await answer.json()) as { data: T; error?: { message: string } }
  if (!answer.ok) throw new Error(`${path}: ${answer.status} ${error?.message}`)
  return data
}
