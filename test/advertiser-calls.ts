// An advertiser that says something about a click, and what became of it.
import type { IssuedCredentials } from '../src/features/apps/keys.ts'
import type { World } from './world.ts'

type CallReply = { outcome: string; reason: string | null; conversion_id: string | null; message: string }

export function createAdvertiserCalls(world: World, live: () => IssuedCredentials) {
  let users = 0

  async function newOffer(record: Record<string, unknown> = {}) {
    const [offerId = 0] = await world.createOffers(record)
    const { advertiser_id } = await world.database.db
      .selectFrom('offers')
      .select('advertiser_id')
      .where('offer_id', '=', offerId)
      .executeTakeFirstOrThrow()
    return { offerId, advertiserId: advertiser_id }
  }

  /** Confirms a click of a new user with just these parameters; `CLICK` stands for its id. */
  async function say(offerId: number, parameters: Record<string, string>) {
    const { clickId } = await world.click(offerId, live(), `userId=u${users++}`)
    const query = new URLSearchParams({ token: world.tokenOf(offerId), ...parameters }).toString()
    return send(query.replaceAll('CLICK', clickId))
  }

  async function send(query: string, payload?: string) {
    const answer = await world.app.server.inject({
      method: payload === undefined ? 'GET' : 'POST',
      url: `/postback?${query}`,
      ...(payload === undefined ? {} : { payload, headers: { 'content-type': 'application/json' } }),
    })
    const reply = answer.json<CallReply>()
    const row =
      reply.conversion_id === null
        ? null
        : await world.database.db
            .selectFrom('conversions')
            .selectAll()
            .where('conversion_id', '=', reply.conversion_id)
            .executeTakeFirstOrThrow()
    return { status: answer.statusCode, ...reply, row }
  }

  return { newOffer, say, send }
}
