// The SDK on pages of other sites: over the page, within it, as an element; and pages that try to fool it.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { readFileSync } from 'node:fs'
import { publishSdk } from '../../src/features/wall/sdk.ts'
import { signUser } from '../../src/features/wall/signature.ts'
import { PHONE } from '../dashboard/browser.ts'
import { until } from '../installation.ts'
import { heard, open, useSdkPages, wallOf } from './sdk-page.ts'

const { world, openPage } = useSdkPages('wall_sdk')

test('the files are small, and a version that was published stays', async () => {
  const sizeOf = (name: string) => gzipSync(readFileSync(`web/dist/client/${name}`), { level: 9 }).length
  assert.ok(sizeOf('sdk.js') < 5_000, `the SDK has ${sizeOf('sdk.js')} bytes`)
  const types = await world.get('/sdk/v1.d.ts')
  assert.equal(types.text, readFileSync('web/sdk/v1.d.ts', 'utf8'), 'the types that the examples are checked with')
  assert.match(types.headers['content-type'] ?? '', /^text\/plain/)
  assert.ok(sizeOf('wall.js') < 25_000, `the wall's script has ${sizeOf('wall.js')} bytes`)
  const { live } = await world.createApp()
  await world.createOffers(...Array.from({ length: 20 }, (_, i) => ({ name: `Offer ${i}` })))
  const page = await world.get(`/wall?apiKey=${live.api_key}&userId=u&platform=web`, undefined, { headers: { 'accept-encoding': 'gzip' } }) // prettier-ignore
  assert.ok(Number(page.headers['content-length']) < 40_000)
  const published = await publishSdk(world.database.db)
  const current = await world.get(published?.path ?? '')
  assert.match(current.headers['cache-control'] ?? '', /immutable/)
  await world.database.db
    .insertInto('sdk_versions')
    .values({ hash: '0'.repeat(16), content: 'old()' })
    .execute()
  assert.equal((await world.get(`/sdk/v1-${'0'.repeat(16)}.js`)).text, 'old()')
  assert.equal((await world.get(`/sdk/v1-${'1'.repeat(16)}.js`)).status, 404)
})

test('over the page it keeps the focus, stops scrolling, closes by Escape, button and Back, and leaves nothing behind', async () => {
  const { live } = await world.createApp()
  await world.createOffers({ name: 'One offer', category: 'video' })
  const page = await openPage('', PHONE)
  const before = await page.evaluate<string>('document.documentElement.outerHTML')
  const isOpen = () => page.evaluate<boolean>(`document.querySelector('body > div') !== null`)
  await page.locator('#earn').focus()
  for (const close of ['escape', 'button', 'back', 'call']) {
    await open(page, live, { category: 'video' })
    await until(async () => (await heard(page)).at(-1) === 'ready')
    assert.equal(await page.evaluate('document.documentElement.style.overflow'), 'hidden')
    const wall = wallOf(page, 'ann')
    await wall?.getByText('One offer').waitFor()
    if (close === 'escape') {
      // The first Escape is for the offer that is open, the second for the wall.
      await wall?.getByRole('button', { name: 'One offer' }).click()
      await page.keyboard.press('Escape')
      await wall?.getByRole('dialog').waitFor({ state: 'detached' })
      assert.equal(await isOpen(), true)
      await page.keyboard.press('Escape')
    } else if (close === 'button') await page.getByRole('button', { name: 'Close', exact: true }).click()
    else if (close === 'back') await page.goBack()
    else await page.evaluate('wall.close(); wall.close()')
    await until(async () => !(await isOpen()))
    await until(async () => (await page.evaluate('history.state')) === null)
    assert.equal(await page.evaluate('document.activeElement.id'), 'earn')
    assert.equal((await heard(page)).filter((name) => name === 'closed').length, 1)
    await page.evaluate('heard.length = 0')
  }
  const after = await page.evaluate<string>('document.documentElement.outerHTML')
  assert.equal(after.replace(/ style=""/, ''), before)
})

test('several walls on a page hear what is theirs, and a hostile page is not heard', async () => {
  const { live } = await world.createApp()
  const [offerId = 0] = await world.createOffers({ name: 'For ann' })
  const page = await openPage('<div id="a"></div><offer-wall id="b"></offer-wall>')
  const expiresAtS = Math.floor(Date.now() / 1000) + 600
  const sig = signUser(live.signing_secret, { apiKey: live.api_key, userId: 'ann', expiresAtS })
  await open(page, live, { mode: 'inline', target: '#a', exp: expiresAtS, sig })
  await page.evaluate(`for (const [name, value] of Object.entries({ 'api-key': ${JSON.stringify(live.api_key)}, 'user-id': 'bob' })) b.setAttribute(name, value);
    window.element = []; for (const name of ['ready', 'credited']) b.addEventListener(name, () => element.push(name)); document.body.append(b)`)
  await until(async () => (await heard(page)).includes('ready') && (await page.evaluate<string[]>('element')).includes('ready')) // prettier-ignore
  // Messages with the wrong source, origin or shape, and very many of them.
  await page.evaluate(
    `for (let i = 0; i < 5000; i++) postMessage({ source: 'offerdeck-wall', version: 1, event: 'credited', detail: { reward: 1e9 } }, '*')`,
  )
  await wallOf(page, 'bob')?.evaluate(
    `for (const data of [null, 7, 'x', { source: 'offerdeck-wall' }, { source: 'offerdeck-wall', version: 1, event: 'constructor', detail: {} }, { source: 'offerdeck-wall', version: 1, event: 'credited', detail: null }]) parent.postMessage(data, '*')`,
  )
  const { clickId } = await world.click(offerId, live, 'userId=ann')
  await world.confirm(offerId, clickId)
  await until(async () => (await heard(page)).includes('credited'))
  const credited = (await page.evaluate<[string, { reward: number }][]>('heard')).filter(
    ([name]) => name === 'credited',
  )
  assert.deepEqual(credited.map(([, { reward }]) => reward), [100]) // prettier-ignore
  assert.deepEqual(await page.evaluate('element'), ['ready'])
  await page.evaluate('b.remove()')
  await until(async () => wallOf(page, 'bob') === undefined)
})

test('a signature that expires is renewed by the page, and what is not one is not taken', async (t) => {
  const { live } = await world.createApp()
  const page = await openPage()
  const signFor = (expiresAtS: number) => signUser(live.signing_secret, { apiKey: live.api_key, userId: 'ann', expiresAtS }) // prettier-ignore
  const [soon, later] = [300, 600].map((s) => Math.floor(Date.now() / 1000) + s) as [number, number]
  const options = { apiKey: live.api_key, userId: 'ann', exp: soon, sig: signFor(soon) }
  await page.evaluate(`window.renewals = 0; window.wall = listen(Offerdeck.open({ ...${JSON.stringify(options)},
    renew: async () => { renewals++; return ${JSON.stringify({ exp: later, sig: signFor(later) })} } }))`)
  await until(async () => (await heard(page)).includes('ready'))
  const wall = wallOf(page, 'ann')
  await wall?.getByRole('button', { name: 'My activity' }).click()
  await page.evaluate(
    `document.querySelector('body > div').shadowRoot.querySelector('iframe').contentWindow.postMessage({ source: 'offerdeck-sdk', version: 1, event: 'signature', exp: 'x', sig: '<b>' }, '*')`,
  )
  t.mock.timers.enable({ apis: ['Date'], now: (soon + 1) * 1000 })
  await wall?.evaluate(`document.dispatchEvent(new Event('visibilitychange'))`)
  await until(async () => (await page.evaluate<number>('renewals')) > 0)
  await wall?.getByText('Nothing here yet').waitFor()
  assert.deepEqual((await heard(page)).filter((name) => name === 'error'), []) // prettier-ignore
})

test('a frame that is loaded again alone is shown with a new signature, and with the one it has for as long as that is valid', async (t) => {
  const { live } = await world.createApp()
  const page = await openPage()
  const start = Math.floor(Date.now() / 1000)
  const signFor = (exp: number) => ({ exp, sig: signUser(live.signing_secret, { apiKey: live.api_key, userId: 'ann', expiresAtS: exp }) }) // prettier-ignore
  const [first, ...next] = [300, 600, 900].map((s) => signFor(start + s))
  await page.evaluate(`window.renewals = 0; window.wall = listen(Offerdeck.open({ ...${JSON.stringify({ apiKey: live.api_key, userId: 'ann', ...first })},
    renew: async () => ${JSON.stringify(next)}[renewals++] }))`)
  await until(async () => (await heard(page)).includes('ready'))
  const reload = async () => {
    await page.evaluate('heard.length = 0')
    await wallOf(page, 'ann')?.evaluate('setTimeout(() => location.reload())')
    await until(async () => (await heard(page)).length > 0)
    await wallOf(page, 'ann')?.getByRole('button', { name: 'My activity' }).waitFor()
    return [await heard(page), await page.evaluate('renewals')]
  }
  t.mock.timers.enable({ apis: ['Date'], now: (start + 301) * 1000 })
  assert.deepEqual(await reload(), [['ready'], 1])
  assert.deepEqual(await reload(), [['ready'], 1])
  // It expires again, and the wall is given another one while it is open: its URL still has the one before.
  t.mock.timers.setTime((start + 601) * 1000)
  await page.evaluate(`const now = Date.now; Date.now = () => now() + 20_000`)
  await wallOf(page, 'ann')?.evaluate(`parent.postMessage({ source: 'offerdeck-wall', version: 1, event: 'error', detail: { code: 'expired' } }, '*')`) // prettier-ignore
  await until(async () => (await page.evaluate('renewals')) === 2)
  assert.deepEqual(await reload(), [['ready'], 2])
})

test('several walls over the page close one by one, in any order and at once, and the page scrolls again', async () => {
  const { live } = await world.createApp()
  const page = await openPage()
  const options = JSON.stringify({ apiKey: live.api_key, userId: 'ann' })
  const [entries, walls] = [() => page.evaluate<number>('history.length'), () => page.evaluate<number>(`document.querySelectorAll('body > div').length`)] // prettier-ignore
  const openTwo = () => page.evaluate(`window.first = Offerdeck.open(${options}); window.second = Offerdeck.open(${options})`) // prettier-ignore
  const isClean = async () =>
    (await walls()) === 0 && (await page.evaluate<boolean>(`history.state === null && document.documentElement.style.overflow === ''`)) // prettier-ignore
  const before = await entries()

  await openTwo()
  await page.evaluate('second.close()')
  await page.goBack()
  await until(isClean)
  await openTwo()
  await page.evaluate('first.close()')
  assert.equal(await page.evaluate('document.documentElement.style.overflow'), 'hidden')
  await page.evaluate('second.close()')
  await until(isClean)
  await openTwo()
  await page.goBack()
  await until(async () => (await walls()) === 1)
  await page.goBack()
  await until(isClean)
  // As frameworks do that mount a part of a page twice.
  await page.evaluate(`Offerdeck.open(${options}).close(); window.gone = false; window.wall = Offerdeck.open(${options}).on('closed', () => (gone = true)); new Promise((resolve) => addEventListener('popstate', () => setTimeout(resolve), { once: true }))`) // prettier-ignore
  assert.deepEqual([await walls(), await page.evaluate('gone')], [1, false])
  await page.goBack()
  await until(isClean)
  for (let i = 0; i < 3; i++) await page.evaluate(`for (let i = 0; i < 30; i++) Offerdeck.open(${options}).close()`)
  await until(isClean)
  assert.equal(await entries(), before + 1)
})

test('what a developer gets wrong is said, and leaves nothing behind', async () => {
  const page = await openPage('<div id="a"></div>')
  await page.evaluate(`window.listeners = 0; for (const [name, step] of [['addEventListener', 1], ['removeEventListener', -1]]) { const own = window[name]; window[name] = function (type, ...rest) { if (type === 'message') listeners += step; return own.call(window, type, ...rest) } }`) // prettier-ignore
  const errorOf = (options: string) =>
    page.evaluate<string>(`(() => { try { Offerdeck.open(${options}); return '' } catch (error) { return error.message } })()`) // prettier-ignore
  const user = `apiKey: 'pk_live_x', userId: 'ann'`
  assert.equal(await errorOf(''), 'Offerdeck.open needs apiKey, as text.')
  assert.equal(await errorOf(`{ apiKey: 'pk_live_x', userId: 42 }`), 'Offerdeck.open needs userId, as text.')
  assert.equal(await errorOf(`{ ${user}, mode: 'popup' }`), 'Offerdeck.open knows the modes modal, inline, tab.')
  assert.match(await errorOf(`{ ${user}, mode: 'inline', target: '#b' }`), /needs a target/)
  assert.match(await errorOf(`{ ${user}, mode: 'inline' }`), /needs a target/)
  assert.equal(await errorOf(`{ ${user}, mode: 'inline', target: '#a' }`), '')
  assert.equal(await page.evaluate('listeners'), 1)
})

test('a signature that is over before the wall opens is renewed first, and one that stays wrong is not asked for again and again', async () => {
  const { live } = await world.createApp()
  const page = await openPage()
  const [past, later] = [-60, 600].map((s) => {
    const exp = Math.floor(Date.now() / 1000) + s
    return { exp, sig: signUser(live.signing_secret, { apiKey: live.api_key, userId: 'ann', expiresAtS: exp }) }
  })
  const openWith = (renewed: string) =>
    page.evaluate(`heard.length = 0; window.renewals = 0; window.wall = listen(Offerdeck.open({ ...${JSON.stringify({ apiKey: live.api_key, userId: 'ann', ...past })},
      renew: () => { renewals++; return ${renewed} } }))`)
  await openWith(`Promise.resolve(${JSON.stringify(later)})`)
  await until(async () => (await heard(page)).includes('ready'))
  await page.evaluate('wall.close()')
  for (const wrong of [`(() => { throw new Error('mine') })()`, 'Promise.resolve()']) {
    await openWith(wrong)
    await until(async () => (await heard(page)).includes('error'))
    await wallOf(page, 'ann')?.getByText('The signature has expired').waitFor()
    await page.evaluate('wall.close()')
  }
  // It expires while the wall is open, and the server of the page has a wrong clock.
  await openWith(`Promise.resolve(renewals === 1 ? ${JSON.stringify(later)} : ${JSON.stringify(past)})`)
  await until(async () => (await heard(page)).includes('ready'))
  await wallOf(page, 'ann')?.evaluate(`parent.postMessage({ source: 'offerdeck-wall', version: 1, event: 'error', detail: { code: 'expired' } }, '*')`) // prettier-ignore
  await until(async () => (await heard(page)).includes('error'))
  assert.equal(await page.evaluate('renewals'), 1)
})
