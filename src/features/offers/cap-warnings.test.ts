import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createPerson } from '../../../test/people.ts'
import { addConversions } from '../../../test/seed-rows.ts'
import { TESTER } from '../../../test/tester.ts'
import { useWorld } from '../../../test/world.ts'
import type { IssuedCredentials } from '../apps/keys.ts'
import { capWarningWriter, warnOfCaps } from './cap-warnings.ts'
import { setCaps } from './edit-offers.ts'
import { countCaps } from './cap-counts.ts'

const DAY_MS = 86_400_000
let live: IssuedCredentials
const world = useWorld('cap_warnings', async () => {
  live = (await world.createApp()).live
})

const writer = capWarningWriter({ publicUrl: 'https://net.example' })
const letterFor = (about: string) => world.database.db.transaction().execute(async (trx) => ({ to: await writer.findRecipients(trx, about, new Date()), letter: await writer.write(trx, about, new Date()) })) // prettier-ignore
const mails = async () => (await world.database.db.selectFrom('mails').select('about').where('kind', '=', 'cap_warning').orderBy('mail_id').execute()).map(({ about }) => about) // prettier-ignore

test('at 80 % of a cap the advertiser and the operators are mailed once, again when it was raised or a new day begins', async () => {
  const { db } = world.database
  const now = new Date()
  const [offerId = 0] = await world.createOffers({ daily_click_cap: 5, total_conversion_cap: 100 })
  const { advertiser_id: advertiserId } = await db.selectFrom('offers').select('advertiser_id').where('offer_id', '=', offerId).executeTakeFirstOrThrow() // prettier-ignore
  const [operator, person, stranger] = [
    await createPerson(world, 'operator'),
    await createPerson(world, 'advertiser', { publisherId: null, advertiserId }),
    await createPerson(world, 'publisher_owner', 1),
  ]
  const click = async (user: string) => void (await world.click(offerId, live, `userId=${user}`))
  for (const user of ['a', 'b', 'c']) await click(user)
  assert.equal(await warnOfCaps(db, now), 0, '60 % is no reason')
  await click('d')
  assert.deepEqual([await warnOfCaps(db, now), await warnOfCaps(db, now)], [1, 0])
  const [about = ''] = await mails()
  const { to, letter } = await letterFor(about)
  assert.ok(to.includes(operator.email) && to.includes(person.email) && !to.includes(stranger.email))
  assert.match(letter?.text ?? '', /Clicks: 80 % of the cap today \(UTC\)\n\n.*until midnight UTC/)
  await setCaps(db, TESTER, offerId, { dailyClicks: 50 }, now)
  await countCaps(db, now)
  assert.equal((await letterFor(about)).letter, null, 'it was raised before the mail went out')
  assert.equal(await warnOfCaps(db, now), 0)
  await setCaps(db, TESTER, offerId, { dailyClicks: 5 }, now)
  await countCaps(db, now)
  assert.equal(await warnOfCaps(db, now), 1, 'lowered again, it is close again')
  assert.equal(await warnOfCaps(db, new Date(now.getTime() + DAY_MS)), 0, 'a new day has used nothing')
})

test('at 80 % of what the advertiser pays, the mail says so', async () => {
  const { db } = world.database
  const now = new Date()
  const [offerId = 0] = await world.createOffers({ daily_revenue_cap: 10, total_revenue_cap: 100 })
  const { appId } = await world.createApp()
  await addConversions(db, { at: now.toISOString(), appId, offerId, status: 'approved', payoutMicros: 1_000_000, revenueMicros: 9_000_000 }) // prettier-ignore
  await setCaps(db, TESTER, offerId, { overCap: 'reject' }, now)
  assert.equal(await warnOfCaps(db, now), 1)
  const { letter } = await letterFor((await mails()).at(-1) ?? '')
  assert.match(letter?.text ?? '', /\n\nSpend: 90 % of the cap today \(UTC\)\n\n/)
})
