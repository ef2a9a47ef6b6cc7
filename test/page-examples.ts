// What the pages of a wall and of lockers are answered, for the examples of the OpenAPI description.
import type { IssuedCredentials } from '../src/features/apps/keys.ts'
import { createLocker, findLocker } from '../src/features/lockers/lockers.ts'
import type { LockerBoot, LockerInput, LockerState } from '../src/features/lockers/schema.ts'
import { signUser } from '../src/features/wall/signature.ts'
import type { WallTicket } from '../src/features/wall/ticket-schema.ts'
import { TESTER } from './tester.ts'
import { type Reply, SECRET_KEY, type World } from './world.ts'

type Keep = (name: string, reply: Reply) => Reply
/** The phone that the offer is for. */
type Place = { world: World; appId: number; live: IssuedCredentials; offerId: number; agent: string; keep: Keep }

const ask = ({ world, agent }: Place, path: string, payload?: object): Promise<Reply> =>
  world.get(path, undefined, {
    headers: { 'user-agent': agent },
    ...(payload === undefined ? {} : { method: 'POST', payload }),
  })

export async function recordWall(place: Place): Promise<void> {
  const { live, offerId, keep } = place
  const { api_key: apiKey, signing_secret } = live
  const expiresAtS = Math.floor(Date.now() / 1000) + 600
  const signed = (userId: string) => {
    const sig = signUser(signing_secret, { apiKey, userId, expiresAtS })
    return new URLSearchParams({ apiKey, userId, exp: String(expiresAtS), sig }).toString()
  }
  const [query, newUser] = [signed('user-42'), signed('user-43')] // the first has completed the offer
  keep('listWallOffers', await ask(place, `/wall/v1/offers?${newUser}&limit=1`))
  keep('getWallOffer', await ask(place, `/wall/v1/offers/${offerId}?${newUser}`))
  keep('countOpenedOffer', await ask(place, `/wall/v1/opened?${query}`, {}))
  keep('listWallActivity', await ask(place, `/wall/v1/activity?${query}`))
  const question = { key: '019c1398-6c00-7000-8000-00000000000a', kind: 'question', text: 'How long does it take?' }
  const { ticket } = keep('openWallTicket', await ask(place, `/wall/v1/tickets?${query}`, question)).body.data as unknown as { ticket: WallTicket } // prettier-ignore
  const more = { key: '019c1398-6c00-7000-8000-00000000000b', text: 'I am at level 3.' }
  keep('writeToWallTicket', await ask(place, `/wall/v1/tickets/${ticket.ticket_id}/messages?${query}`, more))
  keep('listWallTickets', await ask(place, `/wall/v1/tickets?${query}`))
}

export async function recordLockers(place: Place): Promise<void> {
  const { world, appId, live, offerId, keep } = place
  const create = async (input: LockerInput) => {
    const lockerId = await createLocker(world.database.db, TESTER, world.config, appId, input)
    return { lockerId, slug: (await findLocker(world.database.db, { lockerId }))?.slug ?? '' }
  }
  const visit = async (lockerId: number, known: object) => {
    const reply = await ask(place, `/locker/v1/lockers/${lockerId}/visits`, known)
    return { reply, state: reply.body.data as unknown as LockerState }
  }
  const complete = async ({ offers }: LockerState) => {
    const { clickId } = await world.follow(offers[0]?.link ?? '', { 'user-agent': place.agent })
    await world.confirm(offerId, clickId, { goal: '1' })
  }

  const content = await create({ name: 'Bonus chapter' })
  const { state: first } = await visit(content.lockerId, {})
  await complete(first)
  const { reply, state } = await visit(content.lockerId, { visitor: first.visitor, key: first.key })
  keep('visitLocker', reply)
  const redeem = { method: 'POST', payload: { proof: state.proof } } as const
  keep('redeemProof', await world.get(`/v1/lockers/${content.lockerId}/redeem`, live, redeem))

  const link = await create({ name: 'Wallpapers', slug: 'wallpapers', password: SECRET_KEY, link: { target_url: 'https://files.example.com/' } }) // prettier-ignore
  const page = await world.app.server.inject({ url: `/l/${link.slug}`, headers: { 'user-agent': place.agent } })
  const { pass: before } = JSON.parse(/id="boot">(.*?)<\/script>/.exec(page.body)?.[1] ?? '{}') as LockerBoot
  const entered = keep('enterLinkPassword', await ask(place, `/l/${link.slug}/password`, { password: SECRET_KEY, pass: before })) // prettier-ignore
  const { pass } = entered.body.data as unknown as { pass: string }
  const { state: locked } = await visit(link.lockerId, { pass })
  await complete(locked)
  keep('openLink', await ask(place, `/l/${link.slug}/open`, { visitor: locked.visitor, key: locked.key, pass }))
  keep('reportLink', await ask(place, `/l/${link.slug}/report`, { reason: 'scam' }))
}
