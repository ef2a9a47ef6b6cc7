// <offer-wall> as pages write it: in their markup, before or after the SDK, or from a script.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import { until } from '../installation.ts'
import { EVENTS, heard, useSdkPages } from './sdk-page.ts'
import { signed } from './wall-url.ts'

const { world, openPage } = useSdkPages('wall_sdk_element')

/** Hears all elements of the page, also those that are there before the SDK. */
const LISTEN = `<script nonce="parent">window.heard = []; for (const name of ${JSON.stringify(EVENTS)})
  document.addEventListener(name, ({ detail }) => heard.push([name, detail]), true)</script>`

async function createElement(more: Record<string, string> = {}): Promise<string> {
  const { live } = await world.createApp()
  const { exp = '', sig = '' } = signed(live)
  const attributes = { 'api-key': live.api_key, 'user-id': 'ann', exp, sig, theme: 'dark', ...more }
  const written = Object.entries(attributes).map(([name, value]) => `${name}="${value}"`)
  return `<offer-wall ${written.join(' ')}></offer-wall>`
}

/** Requests for walls from now on. */
function countWalls(page: Page): () => number {
  let count = 0
  page.on('request', (request) => (count += Number(new URL(request.url()).pathname === '/wall')))
  return () => count
}

const whenReady = (page: Page) => until(async () => (await heard(page)).includes('ready'))

test('in the markup before and after the SDK, and set as HTML, an element loads its wall once', async () => {
  const element = await createElement()
  for (const [after, before] of [
    ['', element],
    [element, ''],
  ] as const) {
    const page = await openPage(after, undefined, `${LISTEN}${before}`)
    const walls = countWalls(page)
    await page.reload()
    await whenReady(page)
    assert.deepEqual([walls(), await heard(page)], [1, ['opened', 'ready']], before === '' ? 'after' : 'before')
  }

  const page = await openPage('<div id="place"></div>')
  const walls = countWalls(page)
  await page.evaluate(`for (const name of ${JSON.stringify(EVENTS)}) place.addEventListener(name, ({ detail }) => heard.push([name, detail]), true);
    place.innerHTML = ${JSON.stringify(element)}`)
  await whenReady(page)
  assert.deepEqual([walls(), await heard(page)], [1, ['opened', 'ready']])
})

test('attributes that are set to what they are change nothing; others in a row load the wall once more', async () => {
  const page = await openPage('<div id="place"></div>')
  await page.evaluate(`place.innerHTML = ${JSON.stringify(await createElement())}; window.element = place.firstChild;
    for (const name of ${JSON.stringify(EVENTS)}) element.addEventListener(name, ({ detail }) => heard.push([name, detail]))`) // prettier-ignore
  await whenReady(page)
  const walls = countWalls(page)
  await page.evaluate(`for (const { name, value } of [...element.attributes]) element.setAttribute(name, value)`)
  await page.evaluate(`element.setAttribute('theme', 'light'); element.setAttribute('lang', 'de')`)
  await until(async () => (await heard(page)).length >= 5)
  assert.deepEqual([walls(), await heard(page)], [1, ['opened', 'ready', 'closed', 'opened', 'ready']])
})
