// The secret key of the installation, and the signing secret of an app, are replaced between the steps of a visitor.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { buildApp } from '../../app.ts'
import { createSteps } from '../../../test/locker-steps.ts'
import { TESTER } from '../../../test/tester.ts'
import { BROWSER, SECRET_KEY, useWorld } from '../../../test/world.ts'
import { joinKeys } from '../../lib/keys.ts'
import { retireOldKeys, useSecretKey } from '../accounts/secret-keys.ts'
import { resealSigningSecrets, rotateSigningSecret } from '../apps/signing-secrets.ts'
import type { LockerInput } from './schema.ts'

const world = useWorld('locker_keys', async () => {
  await useSecretKey(world.database.db, SECRET_KEY)
})
const TARGET = 'https://files.example.com/secret-4711'

const create = (input: Partial<LockerInput> = {}) => createSteps(world, input)
const offer = async () => (await world.createOffers({}))[0] ?? 0

test('a proof outlives a signing secret that is replaced with a grace, and without one the page gives it out again', async () => {
  const [calm, sudden] = [await create(), await create()]
  const offerId = await offer()
  const [one, two] = [await calm.unlocked(offerId), await sudden.unlocked(offerId)]
  const rotate = (appId: number, graceMs: number) => rotateSigningSecret(world.database.db, TESTER, SECRET_KEY, appId, 'live', graceMs) // prettier-ignore
  await rotate(calm.appId, 3_600_000)
  assert.equal((await calm.redeem(one.proof)).data.redeemed, true)
  await rotate(sudden.appId, 0)
  assert.match((await sudden.redeem(two.proof)).message, /load the page again/)
  const again = (await sudden.visit(two.known)).data.proof
  assert.notEqual(again, two.proof)
  assert.equal((await sudden.redeem(again)).data.redeemed, true)
})

async function restart(secretKey: string): Promise<void> {
  await useSecretKey(world.database.db, secretKey)
  await world.app.close()
  const { config, database, log } = world
  world.app = await buildApp({ config, secretKey, database, log })
}

test('while the secret key is replaced every step works; without the old one visitors start again, and unlocked content is delivered', async () => {
  const NEXT_KEY = 'the next secret key, also long enough'
  const { db } = world.database
  const [content, link] = [await create(), await create({ link: { target_url: TARGET } })]
  const [first, second] = [await offer(), await offer()]
  const reader = await content.unlocked(first)
  const seen = await content.arrive()
  const [visitor, before] = [await link.arrive(), await link.unlocked(first)]
  const url = visitor.state.offers.find(({ offer_id }) => offer_id === second)?.link ?? ''

  await restart(joinKeys(NEXT_KEY, [SECRET_KEY]))
  await world.confirm(second, (await world.follow(url)).clickId) // between visit and click, and click and unlock
  const { state: _state, ...known } = visitor
  assert.equal((await link.visit(known)).data.is_unlocked, true)
  assert.equal((await link.open(known)).data.target_url, TARGET)
  assert.equal((await content.visit(reader.known)).data.proof, reader.proof)

  assert.equal((await content.redeem('none')).status, 400) // the API secret is in use, and so kept by the new key
  await resealSigningSecrets(db, joinKeys(NEXT_KEY, [SECRET_KEY]))
  await retireOldKeys(db, joinKeys(NEXT_KEY, [SECRET_KEY]), new Date())
  await restart(NEXT_KEY)
  const headers = { 'user-agent': BROWSER, 'accept-language': 'en' }
  const page = await world.app.server.inject({ url: url.replace(world.config.publicUrl, ''), headers })
  assert.equal(page.statusCode, 404)
  assert.match(page.body, /Go back to where you found it/)
  assert.equal((await link.open(before.known)).details['locker'], 'stale') // the page: load it again
  assert.equal((await content.visit(seen)).details['key'], 'Start again without a visitor.') // which the page does
  assert.equal((await content.arrive()).state.offers.length > 0, true)
  assert.equal((await content.redeem(reader.proof)).data.redeemed, true)
})
