// What a page hears when its wall cannot be shown, and how a new signature helps.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { changeRewardSettings } from '../../src/features/apps/reward-settings.ts'
import { DEFAULTS } from '../../src/features/wall/settings-schema.ts'
import { setWallSettings } from '../../src/features/wall/settings.ts'
import { until } from '../installation.ts'
import { TESTER } from '../tester.ts'
import { heard, open, useSdkPages, wallOf } from './sdk-page.ts'
import { signed } from './wall-url.ts'

const { world, openPage } = useSdkPages('wall_sdk_errors')

const AN_HOUR_BEHIND = `const now = Date.now; Date.now = () => now() - 3600_000`

test('a page hears why its wall cannot be shown', async () => {
  const { live, appId } = await world.createApp()
  const { live: anyone } = await world.createApp()
  await setWallSettings(world.database.db, TESTER, appId, { ...DEFAULTS, require_signature: true })
  const { live: servers, appId: serversId } = await world.createApp()
  await changeRewardSettings(world.database.db, TESTER, serversId, { kind: 'tracking' })
  await world.app.refresh()
  const cases: [code: string, keys: typeof live, options: object][] = [
    ['signature_required', live, {}],
    ['expired', live, signed(live, 'ann', -60)],
    ['invalid_signature', live, { ...signed(live), userId: 'bob' }],
    ['invalid_signature', anyone, { ...signed(anyone), exp: 'soon' }],
    ['invalid_request', anyone, { country: 'nowhere' }],
    ['invalid_api_key', { ...live, api_key: 'pk_live_none' }, {}],
    ['resource_not_found', servers, {}],
  ]
  const page = await openPage()
  const opened = async (keys: typeof live, options: object) => {
    await page.evaluate('heard.length = 0')
    await open(page, keys, options)
    await until(async () => (await heard(page)).some((name) => name !== 'opened'))
    const events = await page.evaluate('heard')
    await page.evaluate('wall.close()')
    return events
  }
  for (const [code, keys, options] of cases)
    assert.deepEqual(await opened(keys, options), [['opened', {}], ['error', { code }]], code) // prettier-ignore
  for (let i = 0; i < 121; i++) await world.get(`/wall?apiKey=${anyone.api_key}&userId=eager`)
  assert.deepEqual(await opened(anyone, { userId: 'eager' }), [['opened', {}], ['error', { code: 'rate_limit_exceeded' }]]) // prettier-ignore
})

test('where the clock of the browser is behind, an expired signature is renewed, and Back does not lead to it', async () => {
  const { live } = await world.createApp()
  const page = await openPage()
  await page.evaluate(AN_HOUR_BEHIND)
  const options = { apiKey: live.api_key, ...signed(live, 'ann', -60) }
  await page.evaluate(`window.renewals = 0; window.wall = listen(Offerdeck.open({ ...${JSON.stringify(options)},
    renew: async () => { renewals++; return ${JSON.stringify(signed(live))} } }))`)
  await until(async () => (await heard(page)).includes('ready'))
  await wallOf(page, 'ann')?.getByRole('button', { name: 'My activity' }).waitFor()
  await page.goBack()
  await until(async () => (await heard(page)).includes('closed'))
  assert.deepEqual([await heard(page), await page.evaluate('renewals')], [['opened', 'ready', 'closed'], 1])
})

test('where the new signature is no better, the page hears of it once', async () => {
  const { live } = await world.createApp()
  const page = await openPage()
  const wrong = { userId: 'ann', exp: signed(live)['exp'], sig: '0'.repeat(64) }
  await page.evaluate(`window.renewals = 0; window.wall = listen(Offerdeck.open({ ...${JSON.stringify({ apiKey: live.api_key, ...wrong })},
    renew: async () => { renewals++; return ${JSON.stringify(wrong)} } }))`)
  await until(async () => (await heard(page)).includes('error'))
  assert.deepEqual(await page.evaluate('heard'), [['opened', {}], ['error', { code: 'invalid_signature' }]]) // prettier-ignore
  assert.equal(await page.evaluate('renewals'), 1)
})

test('an element asks for a new signature, too', async () => {
  const { live } = await world.createApp()
  const { exp, sig } = signed(live, 'ann', -60)
  const page = await openPage(
    '<offer-wall id="element"></offer-wall>',
    undefined,
    '<offer-wall id="early"></offer-wall>',
  )
  for (const id of ['element', 'early']) {
    await page.evaluate(`${id}.renew = async () => (${JSON.stringify(signed(live))});
      for (const name of ['ready', 'error']) ${id}.addEventListener(name, () => heard.push([name]));
      for (const [name, value] of Object.entries(${JSON.stringify({ exp, sig, 'user-id': 'ann', 'api-key': live.api_key })})) ${id}.setAttribute(name, value)`)
    await until(async () => (await heard(page)).length > 0)
    assert.deepEqual(await heard(page), ['ready'])
    await wallOf(page, 'ann')?.getByRole('button', { name: 'My activity' }).waitFor()
    await page.evaluate(`${id}.remove(); heard.length = 0`)
  }
})

test('an event whose details are not those of its kind is not heard', async () => {
  const { live } = await world.createApp()
  const page = await openPage()
  await open(page, live)
  await until(async () => (await heard(page)).includes('ready'))
  const credited = { conversion_id: 'c', offer_id: 1, goal_id: 2, reward: 3 }
  const sent: [string, unknown][] = [
    ['credited', { ...credited, reward: '3' }],
    ['credited', { ...credited, conversion_id: undefined }],
    ['credited', [credited]],
    ['offer-started', { offer_id: '1' }],
    ['offer-started', {}],
    ['offer-started', null],
    ['error', {}],
    ['paid', {}],
    ['offer-started', { offer_id: 1 }],
    ['credited', credited],
  ]
  await wallOf(page, 'ann')?.evaluate(`for (const [event, detail] of ${JSON.stringify(sent)}) parent.postMessage({ source: 'offerdeck-wall', version: 1, event, detail }, '*')`) // prettier-ignore
  await until(async () => (await heard(page)).includes('credited'))
  assert.deepEqual((await page.evaluate<unknown[]>('heard')).slice(2), [['offer-started', { offer_id: 1 }], ['credited', credited]]) // prettier-ignore
})
