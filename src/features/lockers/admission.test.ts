// What the pages of lockers allow browsers to do, and where there is no locker at all.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { TESTER } from '../../../test/tester.ts'
import { BROWSER, useWorld } from '../../../test/world.ts'
import { changeRewardSettings } from '../apps/reward-settings.ts'
import { DEFAULTS } from '../wall/settings-schema.ts'
import { setWallSettings } from '../wall/settings.ts'
import { createLocker, findLocker } from './lockers.ts'
import type { LockerInput, LockerState } from './schema.ts'

const world = useWorld('locker_admission')
const LINK = { link: { target_url: 'https://files.example.com/album' } }

/** A locker and a link of one app. */
async function createBoth(input: Partial<LockerInput> = {}) {
  const app = await world.createApp()
  const create = (more: Partial<LockerInput>) => createLocker(world.database.db, TESTER, world.config, app.appId, { name: 'Locker', ...input, ...more }) // prettier-ignore
  const [lockerId, linkId] = [await create({}), await create(LINK)]
  return { ...app, lockerId, slug: (await findLocker(world.database.db, { lockerId: linkId }))?.slug ?? '' }
}

const ask = (url: string, agent = BROWSER) => world.app.server.inject({ url, headers: { 'user-agent': agent } })
const visit = (lockerId: number, agent = BROWSER) =>
  world.app.server.inject({ method: 'POST', url: `/locker/v1/lockers/${lockerId}/visits`, payload: {}, headers: { 'user-agent': agent } }) // prettier-ignore

test('only scripts of this answer run on the pages of walls, lockers and links, which no other site can frame', async () => {
  const { appId, lockerId, slug, live } = await createBoth()
  await setWallSettings(world.database.db, TESTER, appId, { ...DEFAULTS, parents: ['https://game.example'] })
  const named = "'self' https://game.example"
  for (const [url = '', ancestors] of [
    [`/wall?apiKey=${live.api_key}&userId=ann`, named],
    [`/locker?locker=${lockerId}&origin=https://game.example`, named],
    [`/l/${slug}`, "'none'"],
  ]) {
    const nonces = new Set<string>()
    for (let i = 0; i < 2; i++) {
      const { headers, body } = await ask(url)
      const policy = Object.fromEntries(String(headers['content-security-policy']).split('; ').map((part) => part.split(/ (.*)/s))) as Record<string, string> // prettier-ignore
      const [, nonce = ''] = /^'nonce-([\w+/]{22}==)'$/.exec(policy['script-src'] ?? '') ?? []
      nonces.add(nonce)
      assert.deepEqual([policy['default-src'], policy['base-uri'], policy['form-action'], policy['frame-ancestors']], ["'none'", "'none'", "'none'", ancestors]) // prettier-ignore
      const scripts = [...body.matchAll(/<script(?! type="application\/json")([^>]*)>/g)].map(([, attributes]) => attributes) // prettier-ignore
      assert.deepEqual(scripts, [` nonce="${nonce}"`])
      assert.match(String(headers['permissions-policy']), /camera=\(\), .*geolocation=\(\)/)
      assert.equal(headers['referrer-policy'], 'no-referrer')
    }
    assert.equal(nonces.size, 2, url)
  }
})

test('a locker for phones shows its offers on phones alone', async () => {
  const { lockerId } = await createBoth({ platforms: ['android', 'ios'] })
  await world.createOffers({})
  const shown = async (agent: string) => (JSON.parse((await visit(lockerId, agent)).body) as { data: LockerState }).data.offers.length > 0 // prettier-ignore
  const ANDROID = 'Mozilla/5.0 (Linux; Android 14; Pixel 8) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/150.0 Mobile Safari/537.36' // prettier-ignore
  const IPHONE = 'Mozilla/5.0 (iPhone; CPU iPhone OS 19_0 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/19.0 Mobile/15E148 Safari/604.1' // prettier-ignore
  assert.deepEqual(await Promise.all([ANDROID, IPHONE, BROWSER].map(shown)), [true, true, false])
})

test('an app that only tracks has no lockers', async () => {
  const { appId, lockerId, slug } = await createBoth()
  const open = () => world.app.server.inject({ method: 'POST', url: `/l/${slug}/open`, payload: { visitor: '0'.repeat(32), key: 'k'.repeat(43), pass: '' } }) // prettier-ignore
  const answers = async () => (await Promise.all([ask(`/l/${slug}`), ask(`/locker?locker=${lockerId}`), visit(lockerId), open()])).map(({ statusCode }) => statusCode) // prettier-ignore
  assert.deepEqual(await answers(), [200, 200, 200, 400])
  await changeRewardSettings(world.database.db, TESTER, appId, { kind: 'tracking' })
  await world.app.refresh()
  assert.deepEqual(await answers(), [404, 404, 404, 404])
})
