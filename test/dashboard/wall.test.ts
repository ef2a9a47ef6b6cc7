// The wall of an app as a publisher sets it up: the code to paste, the look with its preview, and what users did on it.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Frame, Page } from 'playwright-core'
import { readFunnel } from '../../src/features/wall/funnel.ts'
import { readWallSettings } from '../../src/features/wall/settings.ts'
import { themeOf } from '../../src/features/wall/theme.ts'
import { until } from '../installation.ts'
import { openSiteWith } from '../other-site.ts'
import { publisherOfApp } from '../people.ts'
import { wallIn } from '../wall/parent-site.ts'
import { BROWSER } from '../world.ts'
import { becomes, checkLooks, pick, useDashboard } from './browser.ts'

let offerId = 0
const dashboard = useDashboard('wall_e2e', async (world) => {
  const destination_url = `${world.config.publicUrl}/healthz?c={click_id}`
  ;[offerId = 0] = await world.createOffers({ name: 'Castle Quest', payout: '1', destination_url })
})
const { world } = dashboard

async function openWallPage() {
  const { appId, live } = await world.createApp({ currency: 'Gems' })
  const publisherId = await publisherOfApp(world, appId)
  const at = `/apps/${appId}/wall`
  return { appId, live, ...(await dashboard.signIn('publisher_owner', publisherId, { at })) }
}

const propertyOf = (wall: Frame, name: string) => () =>
  wall.evaluate<string>(`getComputedStyle(document.documentElement).getPropertyValue('${name}')`)

test('a publisher edits the look of a wall, sees it in the preview at once, and users when it is saved', async () => {
  const { appId, live, page, complaints } = await openWallPage()
  await page.frameLocator('iframe[title="Preview of the wall"]').getByRole('heading', { name: 'Earn Gems' }).waitFor()
  const wall = wallIn(page)
  await wall.getByRole('button', { name: 'Castle Quest' }).waitFor()
  assert.equal(await propertyOf(wall, '--on-accent')(), '#ffffff')

  await page.getByLabel('Title', { exact: true }).fill('Treasure room')
  await wall.getByRole('heading', { name: 'Treasure room' }).waitFor()
  const light = page.getByRole('group', { name: 'Light colors' })
  const warning = light.getByText('Hard to read')
  assert.equal(await warning.count(), 0)
  await light.getByLabel('Accent').fill('#ffee88')
  await becomes(propertyOf(wall, '--accent'), '#ffee88')
  await becomes(propertyOf(wall, '--on-accent'), '#000000', 'what is written on it stays readable')
  await warning.waitFor()
  await light.getByText('Buttons on cards: contrast 1.2, needs 3.').waitFor()
  await light.getByLabel('Accent').fill('#8a8a8a')
  await light.getByLabel('Background').fill('#dddddd')
  await light.getByText('Buttons on the background: contrast 2.5, needs 3.').waitFor()
  assert.equal(await light.getByText('Buttons on cards').count(), 0)
  await light.getByLabel('Background').fill('#f4f6f9')
  await light.getByLabel('Accent').fill('#8a6d00')
  await warning.waitFor({ state: 'detached' })
  await becomes(propertyOf(wall, '--on-accent'), '#ffffff')
  await page.getByRole('combobox', { name: 'Font' }).click()
  await pick(page.getByRole('option', { name: 'Serif' }))

  const widthOf = () => wall.evaluate<number>('innerWidth')
  await becomes(widthOf, 390)
  await page.getByRole('radiogroup', { name: 'Width' }).getByText('Desktop').click()
  await becomes(widthOf, 1024)
  await page.getByRole('radiogroup', { name: 'Preview theme' }).getByText('Dark').click()
  await becomes(propertyOf(wall, '--accent'), '#6ea8ff')
  await becomes(propertyOf(wall, '--on-accent'), '#000000')
  await checkLooks(page)

  const sites = page.getByRole('combobox', { name: 'Sites that may embed the wall' })
  await sites.fill('game.example')
  await sites.press('Enter')
  await save(page, 400)
  await page.getByText('"game.example" is not an origin.').waitFor()
  await sites.press('Backspace')
  await sites.fill('https://game.example')
  await sites.press('Enter')
  await save(page, 200)
  const settings = await readWallSettings(world.database.db, appId)
  assert.deepEqual(
    [settings.title, settings.light.accent, settings.font, settings.parents],
    ['Treasure room', '#8a6d00', 'serif', ['https://game.example']],
  )
  await until(async () => {
    const answer = await page.request.get(`${dashboard.url}/wall?apiKey=${live.api_key}&userId=ann`)
    const policy = answer.headers()['content-security-policy'] ?? ''
    return policy.endsWith("frame-ancestors 'self' https://game.example") && (await answer.text()).includes(themeOf(settings)) // prettier-ignore
  })
  assert.deepEqual(complaints.map((one) => /status of (\d+)/.exec(one)?.[1]), ['400'], 'what was refused alone') // prettier-ignore
})

async function save(page: Page, status: number): Promise<void> {
  const saved = page.waitForResponse((response) => response.request().method() === 'PUT')
  await page.getByRole('button', { name: 'Save' }).click()
  assert.equal((await saved).status(), status)
}

test('the code to paste runs as it is, not with another hash, and the funnel shows what came of it', async () => {
  const { appId, page, complaints } = await openWallPage()
  const funnel = page.locator('section', { has: page.getByRole('heading', { name: 'Funnel' }) })
  await funnel.getByText('Per 1,000 views').waitFor()
  assert.match(await funnel.innerText(), /Views\s+0\s+Opened\s+0\s+Started\s+0\s+Completed\s+0\s+Per 1,000 views\s+–/)
  await page.getByRole('tab', { name: 'JavaScript' }).click()
  const code = await page.getByRole('tabpanel').locator('code, pre').first().innerText()
  assert.match(code, /integrity="sha384-[A-Za-z0-9+/]{64}" crossorigin="anonymous"/)

  const { page: shop } = await dashboard.open({ userAgent: BROWSER }) // bots are not counted
  const shopWith = async (html: string) => {
    await shop.goto(await openSiteWith(`<!doctype html><html lang="en"><title>Shop</title>${html}</html>`))
    return shop.evaluate<string>('typeof Offerdeck')
  }
  const changed = code.replace(/sha384-./, (start) => start.slice(0, -1) + (start.endsWith('A') ? 'B' : 'A'))
  assert.equal(await shopWith(changed), 'undefined')
  assert.equal(await shopWith(code), 'object')
  await shop.getByRole('button', { name: 'Earn' }).click()
  const wall = shop.frameLocator('iframe')
  await wall.getByRole('button', { name: 'Castle Quest' }).click()
  const [advertiser] = await Promise.all([
    shop.waitForEvent('popup'),
    wall.getByRole('link', { name: 'Start offer' }).click(),
  ])
  await advertiser.waitForURL(/healthz/)
  await world.confirm(offerId, new URL(advertiser.url()).searchParams.get('c') ?? '')

  await page.getByRole('tab', { name: 'Web view' }).click()
  const link = await page.getByRole('tabpanel').locator('code, pre').first().innerText()
  assert.equal(new URL(link).searchParams.get('embed'), 'webview')
  await page.getByRole('tab', { name: 'Link', exact: true }).click()
  await page.getByRole('tabpanel').getByText(link.replace('&embed=webview', ''), { exact: true }).waitFor()

  await page.getByRole('tab', { name: 'HTML' }).click()
  const [, src = ''] = /src="([^"]+)"/.exec(await page.getByRole('tabpanel').locator('code, pre').first().innerText()) ?? [] // prettier-ignore
  assert.equal((await shop.request.get(src.replaceAll('&amp;', '&'))).status(), 200)
  await until(async () => {
    const { views, started, completed } = await readFunnel(world.database.db, appId, 1, new Date())
    return views === 2 && started === 1 && completed === 1
  })
  await funnel.getByText('Today').click()
  await funnel.getByText('50% of views').waitFor()
  assert.match(await funnel.innerText(), /Views\s+2\s+Opened\s+1\s+50% of views\s+Started\s+1\s+100% of opened\s+Completed\s+1\s+100% of started\s+Per 1,000 views\s+\$500.00\s+\$1.00 in total/) // prettier-ignore
  await checkLooks(page)
  assert.deepEqual(complaints, [])
})
