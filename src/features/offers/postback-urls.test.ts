import assert from 'node:assert/strict'
import { test } from 'node:test'
import { PUBLIC_URL, useWorld } from '../../../test/world.ts'
import { setAdvertiser } from '../accounts/advertiser-settings.ts'
import { getAdvertiser } from '../accounts/advertisers.ts'
import { listPostbackUrls } from './postback-urls.ts'
import { TESTER } from '../../../test/tester.ts'

const world = useWorld('postback_urls')
const TARGET = { publicUrl: PUBLIC_URL, token: 'adv_x' }

async function createOffers(...records: Record<string, unknown>[]) {
  const { db } = world.database
  const [first = 0] = await world.createOffers(...records)
  const { advertiser_id } = await db.selectFrom('offers').select('advertiser_id').where('offer_id', '=', first).executeTakeFirstOrThrow() // prettier-ignore
  return getAdvertiser(db, advertiser_id)
}

test('every live goal has a URL, which asks for an amount where a share of it is paid', async () => {
  const { db } = world.database
  const goals = [
    { name: 'Join', payout: 1 },
    { name: 'Buy', payout: 1, payout_percent: 5 },
    { name: 'Stay', payout: 1, revenue_percent: 5 },
  ]
  const advertiser = await createOffers({ payout: undefined, goals })
  const { offers, more_offers } = await listPostbackUrls(db, advertiser, TARGET)
  const [join, buy, stay] = offers[0]?.goals ?? []
  const url = (goalId: number | undefined, amount: string) =>
    `${PUBLIC_URL}/postback?click_id={click_id}&goal=${goalId}&txn_id={txn_id}${amount}&token=adv_x`
  assert.equal(join?.postback_url, url(join?.goal_id, ''))
  assert.equal(buy?.postback_url, url(buy?.goal_id, '&amount={amount}'))
  assert.equal(stay?.postback_url, url(stay?.goal_id, '&amount={amount}'))
  assert.equal(more_offers, 0)
  await db
    .updateTable('goals')
    .set({ is_retired: true })
    .where('goal_id', '=', join?.goal_id ?? 0)
    .execute()
  assert.deepEqual((await listPostbackUrls(db, advertiser, TARGET)).offers[0]?.goals, [buy, stay])
})

test('a URL names its goal, also where the advertiser calls another one as we call it', async () => {
  const { db } = world.database
  const goals = [
    { name: 'A', payout: 1, external_id: 'a b' },
    { name: 'B', payout: 1, external_id: 'b' },
  ]
  const advertiser = await createOffers({ payout: 2, goals })
  const urls = async () => (await listPostbackUrls(db, advertiser, TARGET)).offers.flatMap(({ goals: all }) => all)
  const [a, b] = await urls()
  await db.updateTable('goals').set({ external_id: String(a?.goal_id) }).where('goal_id', '=', b?.goal_id ?? 0).execute() // prettier-ignore
  assert.deepEqual((await urls()).map(({ postback_url }) => new URL(postback_url).searchParams.get('goal')), ['a b', String(b?.goal_id)]) // prettier-ignore
})

test("the advertiser's own names stand in its URLs", async () => {
  const { db } = world.database
  const { advertiser_id } = await createOffers({
    payout: undefined,
    goals: [{ name: 'Buy', payout: 1, payout_percent: 5 }],
  })
  const advertiser = await setAdvertiser(db, TESTER, advertiser_id, {
    aliases: [['click_id', 'sub[1]'], ['click_id', 'cid'], ['goal', 'event'], ['txn_id', 'order'], ['amount', 'sum']],
  }) // prettier-ignore
  const { offers } = await listPostbackUrls(db, advertiser, TARGET)
  const goal = offers[0]?.goals[0]
  assert.equal(
    goal?.postback_url,
    `${PUBLIC_URL}/postback?sub%5B1%5D={click_id}&event=${goal?.goal_id}&order={txn_id}&sum={amount}&token=adv_x`,
  )
})

test('an offer whose destination does not carry the click id cannot be confirmed', async () => {
  const advertiser = await createOffers({}, { destination_url: 'https://ads.example.com/{offer_id}' })
  const { offers } = await listPostbackUrls(world.database.db, advertiser, TARGET)
  assert.deepEqual(offers.map((offer) => offer.can_be_confirmed), [true, false]) // prettier-ignore
})

test('of many offers the first 50 are listed, and the others counted', async () => {
  const advertiser = await createOffers(...Array.from({ length: 53 }, () => ({})))
  const { offers, more_offers } = await listPostbackUrls(world.database.db, advertiser, TARGET)
  assert.deepEqual([offers.length, more_offers], [50, 3])
})
