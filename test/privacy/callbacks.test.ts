// Callbacks that confirm nothing: whatever is wrong with one, an erasure and an export find it by the click that it names.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setAdvertiser } from '../../src/features/accounts/advertiser-settings.ts'
import { listCalls } from '../../src/features/conversions/inbound/calls.ts'
import { reprocessCalls } from '../../src/features/conversions/inbound/confirm.ts'
import { eraseUsers, SETTLE_MS } from '../../src/features/users/erase.ts'
import { requestErasure } from '../../src/features/users/erasures.ts'
import { exportUser } from '../../src/features/users/export.ts'
import { TESTER } from '../tester.ts'
import { findTexts, readWhole } from '../whole-database.ts'
import { SECRET_KEY } from '../world.ts'
import { type Person, secretsOf, type Story, useStories, VAIN_KINDS } from './story.ts'

const { world, begin } = useStories('privacy_callbacks')

async function erase(story: Story, person: Person): Promise<void> {
  await story.deliver()
  await story.settle()
  const now = Date.now()
  await requestErasure(world.database.db, TESTER, SECRET_KEY, story.user(person), new Date(now))
  for (let pass = 0; pass < 3; pass++) await eraseUsers(world.database.db, new Date(now + pass * (SETTLE_MS + 1)))
}

const findCallsOf = async (person: Person) =>
  findTexts(await readWhole(world.database.pool), secretsOf(person)).filter((text) => text.startsWith('inbound_calls'))

async function beginConfirmed(): Promise<{ story: Story; person: Person }> {
  const story = await begin()
  const [person] = story.people as [Person]
  await story.click(person, story.offers[0] ?? 0)
  await story.confirm(person, 0)
  return { story, person }
}

for (const kind of VAIN_KINDS) {
  const expected = kind === 'ignored' ? 'ignored' : kind === 'wrong address' ? 'refused' : 'invalid'

  test(`a callback (${kind}) before an erasure is exported, and loses what the advertiser sent along`, async () => {
    const { story, person } = await beginConfirmed()
    assert.equal(await story.confirmInVain(person, 0, kind), expected)
    const exported = await Array.fromAsync(exportUser(world.database.db, story.user(person), 'operator'))
    assert.equal(exported.filter((one) => one.kind === 'callback' && one['outcome'] === expected).length, 1)
    await erase(story, person)
    assert.deepEqual(await findCallsOf(person), [])
  })

  test(`a callback (${kind}) after an erasure is logged without what the advertiser sends along`, async () => {
    const { story, person } = await beginConfirmed()
    await erase(story, person)
    assert.equal(await story.confirmInVain(person, 0, kind), expected)
    assert.deepEqual(await findCallsOf(person), [])
  })
}

test('what an erasure leaves of a callback can still be processed once its name for the click is mapped', async () => {
  const { db } = world.database
  const { story, person } = await beginConfirmed()
  for (const kind of ['unmapped', 'wrong address'] as const) await story.confirmInVain(person, 0, kind)
  await erase(story, person)
  const calls = await listCalls(db, { clickId: person.clicks[0]?.clickId ?? '', isOpen: true }, 10)
  const advertiserId = calls[0]?.advertiser_id ?? 0
  await setAdvertiser(db, TESTER, advertiserId, { aliases: [['click_id', 'player']], allowedIps: [] })
  const results = await reprocessCalls(db, TESTER, calls, { countryOf: () => null })
  assert.deepEqual(results.map(({ outcome }) => outcome), ['refused', 'duplicate']) // prettier-ignore
  assert.match(results[0]?.message ?? '', /was erased with its user\. Ask the advertiser to resend it/)
  assert.deepEqual(await findCallsOf(person), [])
})
