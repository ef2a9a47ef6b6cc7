// The SDK's ways to show a wall: what each tells its page, how the focus stays over it, and tabs.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import { TEXTS } from '../../src/features/wall/texts/texts.ts'
import { until } from '../installation.ts'
import { EVENTS, heard, open, useSdkPages, wallOf } from './sdk-page.ts'
import { signed } from './wall-url.ts'

const pages = useSdkPages('wall_sdk_modes')
const { world, openPage } = pages

const whenOpened = (page: Page) => page.context().waitForEvent('page')

test('in a tab, the wall has no way back to its page, and an expired signature is renewed before', async () => {
  const { live } = await world.createApp()
  const page = await openPage()
  const [tab] = await Promise.all([whenOpened(page), open(page, live, { mode: 'tab', aff_sub: 'a b', theme: 'dark' })])
  await tab.getByRole('heading', { name: 'Earn Coins' }).waitFor()
  const user = { apiKey: live.api_key, userId: 'ann', aff_sub: 'a b', platform: 'web', theme: 'dark' }
  assert.equal(tab.url(), `${pages.url}/wall?${new URLSearchParams(user).toString()}`)
  assert.equal(await tab.evaluate('opener'), null)
  assert.deepEqual(await heard(page), ['opened'])

  const [past, fresh] = [signed(live, 'ann', -60), signed(live)]
  const openExpired = (renewed: string) =>
    page.evaluate(`heard.length = 0; window.renewals = 0; window.wall = listen(Offerdeck.open({ mode: 'tab', ...${JSON.stringify({ apiKey: live.api_key, ...past })},
      renew: async () => { renewals++; ${renewed} } }))`)
  const [renewed] = await Promise.all([whenOpened(page), openExpired(`return ${JSON.stringify(fresh)}`)])
  await renewed.getByRole('button', { name: 'My activity' }).waitFor()
  assert.equal(new URL(renewed.url()).searchParams.get('sig'), fresh['sig'])
  assert.deepEqual([await renewed.evaluate('opener'), await page.evaluate('renewals')], [null, 1])
  assert.deepEqual(await heard(page), ['opened'])
  await page.evaluate('wall.close()')
  assert.equal(renewed.isClosed(), false, 'the tab is the user’s')

  const [failed] = await Promise.all([whenOpened(page), openExpired(`throw new Error('mine')`)])
  await failed.getByText('The signature has expired').waitFor()
  assert.deepEqual(await heard(page), ['opened', 'error'])
  const [waiting] = await Promise.all([whenOpened(page), openExpired(`return new Promise(() => {})`)])
  const gone = waiting.waitForEvent('close')
  await page.evaluate('wall.close()')
  await gone
})

test('over the page, Tab and Shift+Tab never reach what is behind', async () => {
  const { live } = await world.createApp()
  await world.createOffers({ name: 'Only offer', category: 'video' })
  const page = await openPage('<a href="#x" id="link">A link</a><input id="field">')
  await page.evaluate(`window.focused = []; document.addEventListener('focusin', ({ target }) => focused.push(target.id || target.localName))`) // prettier-ignore
  await page.locator('#link').focus()
  await open(page, live, { category: 'video' })
  await until(async () => (await heard(page)).includes('ready'))
  const wall = wallOf(page, 'ann')
  await wall?.getByText('Only offer').waitFor()
  await page.evaluate('focused.length = 0')
  const inWall = new Set<string>()
  for (const key of ['Tab', 'Shift+Tab'])
    for (let presses = 0; presses < 20; presses++) {
      await page.keyboard.press(key)
      inWall.add((await wall?.evaluate<string>(`document.hasFocus() ? document.activeElement.localName : ''`)) ?? '')
    }
  assert.ok(inWall.has('button') && inWall.has('input'), 'the wall is gone through')
  const reached = new Set(await page.evaluate<string[]>('focused'))
  assert.deepEqual([...reached], ['div'], 'the dialog alone, as the page sees it')
})

test('on a phone, the button that closes the wall covers nothing of it: who closes an offer is back at the list', async () => {
  const { live } = await world.createApp()
  await world.createOffers({ name: 'Near offer', category: 'survey' })
  const page = await openPage('', { width: 390, height: 640 })
  for (const lang of ['en', 'ar'] as const) {
    await open(page, live, { category: 'survey', lang })
    await until(async () => (await heard(page)).includes('ready'))
    const frame = await page.locator('iframe').boundingBox()
    const button = await page.getByRole('button', { name: 'Close', exact: true }).boundingBox()
    assert.equal((button?.y ?? 0) + (button?.height ?? 0), frame?.y, 'the wall begins below the button')
    assert.deepEqual([frame?.width, (frame?.y ?? 0) + (frame?.height ?? 0)], [390, 640])
    const wall = wallOf(page, 'ann')
    await wall?.getByRole('button', { name: 'Near offer' }).click()
    const details = wall?.getByRole('dialog', { name: 'Near offer' })
    const close = await details?.getByRole('button', { name: TEXTS[lang].close }).boundingBox()
    await page.mouse.click((close?.x ?? 0) + (close?.width ?? 0) / 2, (close?.y ?? 0) + (close?.height ?? 0) / 2)
    await details?.waitFor({ state: 'detached' })
    await wall?.getByRole('button', { name: 'Near offer' }).waitFor()
    assert.deepEqual(await heard(page), ['opened', 'ready'])
    await page.evaluate('wall.close(); heard.length = 0')
    await until(async () => (await page.evaluate('history.state')) === null)
  }
})

test('Escape closes a wall over the page, but none within it, and takes nothing that is being written', async () => {
  const { live } = await world.createApp()
  await world.createOffers({ name: 'Castle', category: 'game' })
  const page = await openPage('<div id="a"></div>')
  const isReady = async () => (await heard(page)).includes('ready')

  await open(page, live, { mode: 'inline', target: '#a' })
  await until(isReady)
  await wallOf(page, 'ann')?.getByRole('button', { name: 'Games' }).press('Escape')
  await messagesHaveArrived(page)
  assert.deepEqual(await heard(page), ['opened', 'ready'])
  await wallOf(page, 'ann')?.getByRole('button', { name: 'Castle' }).waitFor()
  await page.evaluate('wall.close(); heard.length = 0')

  await open(page, live, signed(live))
  await until(isReady)
  const wall = wallOf(page, 'ann')
  const search = wall?.getByRole('searchbox')
  await search?.fill('tea')
  await search?.press('Escape')
  await wall?.getByRole('button', { name: 'Help' }).click()
  await wall?.getByText('Ask for help').click()
  const form = wall?.getByRole('group', { name: 'Ask for help' })
  await form?.getByLabel('Message').fill('I finished level 9.')
  await form?.getByLabel('Message').press('Escape')
  await form?.getByRole('button', { name: 'Send' }).press('Escape')
  await messagesHaveArrived(page)
  assert.deepEqual(await heard(page), ['opened', 'ready'])
  assert.equal(await form?.getByLabel('Message').inputValue(), 'I finished level 9.')
  await form?.getByLabel('Message').fill('')
  await form?.getByLabel('Which offer?').press('Escape')
  await until(async () => (await heard(page)).includes('closed'))
})

/** Those that the wall has posted before. */
const messagesHaveArrived = async (page: Page) => {
  await page.evaluate(`window.arrived = new Promise((resolve) => addEventListener('message', ({ data }) => data === 'last' && resolve())); undefined`) // prettier-ignore
  await wallOf(page, 'ann')?.evaluate(`parent.postMessage('last', '*')`)
  await page.evaluate('arrived')
}

test('a page hears of a wall and of an element that it was opened, is ready, an offer started and credited, and closed', async () => {
  const { live } = await world.createApp()
  const destination_url = `${pages.url}/healthz?c={click_id}`
  const offers = await world.createOffers({ name: 'First', destination_url }, { name: 'Second', destination_url })
  const page = await openPage()
  const options: Record<string, string> = { apiKey: live.api_key, ...signed(live) }
  const ways = [
    { show: `window.wall = listen(Offerdeck.open(${JSON.stringify(options)}))`, close: 'wall.close()' },
    {
      show: `window.element = document.createElement('offer-wall');
        for (const [name, value] of Object.entries(${JSON.stringify({ 'api-key': live.api_key, 'user-id': 'ann', exp: options['exp'], sig: options['sig'] })})) element.setAttribute(name, value);
        document.body.append(element);
        for (const name of ${JSON.stringify(EVENTS)}) element.addEventListener(name, ({ detail }) => heard.push([name, detail]))`,
      close: 'element.remove()',
    },
  ]
  for (const [i, { show, close }] of ways.entries()) {
    const offerId = offers[i] ?? 0
    await page.evaluate(`heard.length = 0; ${show}; undefined`)
    await until(async () => (await heard(page)).includes('ready'))
    const wall = wallOf(page, 'ann')
    await wall?.getByRole('button', { name: i === 0 ? 'First' : 'Second' }).click()
    const [advertiser] = await Promise.all([whenOpened(page), wall?.getByRole('link', { name: 'Start offer' }).click()])
    await advertiser.waitForURL(/healthz/)
    const { conversion_id } = await world.confirm(offerId, new URL(advertiser.url()).searchParams.get('c') ?? '')
    await until(async () => (await heard(page)).includes('credited'))
    await page.evaluate(close)
    const [goal] = await world.database.db.selectFrom('goals').select('goal_id').where('offer_id', '=', offerId).execute() // prettier-ignore
    assert.deepEqual(await page.evaluate('heard'), [
      ['opened', {}],
      ['ready', {}],
      ['offer-started', { offer_id: offerId }],
      ['credited', { conversion_id, offer_id: offerId, goal_id: goal?.goal_id, reward: 100 }],
      ['closed', {}],
    ])
  }
})
