// What an operator allows a publisher and forbids its users, at the command line.
import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import { isDeepStrictEqual } from 'node:util'
import { until } from '../../test/installation.ts'
import { createApplication } from '../../test/sign-ups.ts'
import { type Credentials, failsWith, useOperator } from '../../test/operator.ts'

const { home, world, serverUrl, createApp, writeOffers } = useOperator()

type Permissions = { status: string; margin_percent: number; only_listed_offers: boolean; allowed_offers: number[]; denied_offers: number[] } // prettier-ignore
type Ban = { ban_id: number; app_id: number | null; user_id: string; reason: string }

let app: Awaited<ReturnType<typeof createApp>>
let publisherId: string
let offers: number[]
before(async () => {
  app = await createApp()
  const [publisher] = await home.json<{ publisher_id: number }[]>('publisher', 'list')
  publisherId = String(publisher?.publisher_id)
  await home.json('advertiser', 'create', '--name', 'Acme')
  await home.json('offer', 'import', writeOffers({ advertiser: 'Acme' }, { advertiser: 'Acme' }))
  offers = (await home.json<{ offer_id: number }[]>('offer', 'list')).map((offer) => offer.offer_id)
})

async function list(
  keys: Credentials,
  userId = 'u',
): Promise<{ status: number; offers: [id: number, payout: number][] }> {
  const headers = { 'x-api-key': keys.api_key, 'x-api-secret': keys.api_secret }
  const answer = await fetch(`${serverUrl()}/v1/offers?userId=${userId}`, { headers })
  type Body = { data?: { offers: { offer_id: number; payout: number }[] } }
  const { data } = (await answer.json()) as Body
  return { status: answer.status, offers: (data?.offers ?? []).map(({ offer_id, payout }) => [offer_id, payout]) }
}

/** A server learns of a change within a second. */
async function becomes(expected: Awaited<ReturnType<typeof list>>, userId?: string): Promise<void> {
  let found: Awaited<ReturnType<typeof list>> | undefined
  await until(async () => isDeepStrictEqual((found = await list(app.live, userId)), expected)).catch(() => {})
  assert.deepEqual(found, expected)
}

test('which offers a publisher may run, its margin and its status are shown and set', async () => {
  const [a = 0, b = 0] = offers
  const permit = (...options: string[]) => home.json<Permissions>('publisher', 'permit', publisherId, ...options)
  const open = { publisher_id: Number(publisherId), status: 'active', margin_percent: 0, only_listed_offers: false, allowed_offers: [], denied_offers: [] } // prettier-ignore
  assert.deepEqual(await permit(), open)
  const set = await permit('--margin', '12.5', '--only-listed', '--allow', String(a), '--deny', String(b))
  assert.deepEqual(set, { ...open, margin_percent: 12.5, only_listed_offers: true, allowed_offers: [a], denied_offers: [b] }) // prettier-ignore
  await becomes({ status: 200, offers: [[a, 1.3125]] })
  assert.deepEqual((await permit('--status', 'suspended', '--yes')).allowed_offers, [a], 'the rest stays')
  await becomes({ status: 401, offers: [] })
  const undone = await permit('--status', 'active', '--margin', '0', '--all-offers', '--unlist', String(a), '--unlist', String(b)) // prettier-ignore
  assert.deepEqual(undone, open)
  failsWith(
    await home.run(['publisher', 'permit', publisherId, '--margin', '101']),
    /--margin must be a number from 0/,
    2,
  )
  failsWith(await home.run(['publisher', 'permit', publisherId, '--allow', '999999']), /There is no offer 999999/)
  failsWith(await home.run(['publisher', 'permit', '999999']), /There is no publisher 999999/)
})

test('a user is banned in an app, listed, and let in again', async () => {
  await until(async () => (await list(app.live, 'cheat')).offers.length === 2)
  const ban = () => home.json<{ is_new: boolean }>('ban', 'add', 'cheat', '--reason', 'Forty devices', '--app', String(app.app_id)) // prettier-ignore
  assert.equal((await ban()).is_new, true)
  await becomes({ status: 200, offers: [] }, 'cheat')
  assert.equal((await ban()).is_new, false)
  const [one] = await home.json<Ban[]>('ban', 'list', '--user', 'cheat')
  assert.deepEqual([one?.app_id, one?.reason], [app.app_id, 'Forty devices'])
  await home.json('ban', 'lift', String(one?.ban_id), '--yes')
  await becomes({ status: 200, offers: (await list(app.live)).offers }, 'cheat')
  failsWith(await home.run(['ban', 'lift', String(one?.ban_id), '--yes']), /There is no ban/)
  failsWith(await home.run(['ban', 'add', 'cheat', '--reason', 'x', '--app', '999999']), /There is no app 999999/)
})

test('publishers that signed up are listed, shown, refused and approved', async () => {
  const id = String(await createApplication(world, { company: 'Acme Apps' }))
  const [row] = await home.json<{ publisher: string; status: string }[]>('publisher', 'applications', '--status', 'waiting') // prettier-ignore
  assert.deepEqual([row?.publisher, row?.status], ['Acme Apps', 'waiting'])
  failsWith(await home.run(['publisher', 'refuse', id]), /reason/, 2)
  assert.match(
    (await home.run(['publisher', 'refuse', id, '--reason', 'No website.', '--yes'])).out,
    /"Acme Apps" is refused/,
  )
  failsWith(await home.run(['publisher', 'refuse', id, '--reason', 'x', '--yes']), /was already refused by/)
  assert.match((await home.run(['publisher', 'applications', 'Acme Apps'])).out, /No website\./)
  assert.match((await home.run(['publisher', 'approve', id])).out, /is approved/)
  failsWith(await home.run(['publisher', 'approve', publisherId]), /did not sign up/)
})
