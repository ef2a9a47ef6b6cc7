// Every page of the dashboard, by the list of its routes: with nothing on it yet, and about what does not exist. Pages with
// something on them are in the tests beside this one.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import type { Page } from 'playwright-core'
import { createPublisher } from '../../src/features/accounts/publishers.ts'
import { createDeal } from '../conversion-rows.ts'
import { testLooks } from '../tier.ts'
import { TESTER } from '../tester.ts'
import { checkLooks, go, useDashboard } from './browser.ts'

const SOURCE = new URL('../../web/dashboard/src/dashboard.tsx', import.meta.url)
const ROUTES = [...readFileSync(SOURCE, 'utf8').matchAll(/^ {2}\['(\/[^']*)', \w+/gm)].map(([, path = '']) => path)
/** Lead elsewhere. */
const REDIRECTS = ['/']

const PATIENCE_MS = 20_000

const dashboard = useDashboard('every_page_e2e')

/** `/apps/:app_id/users` of an app with this ID. */
const fill = (route: string, idOf: (name: string) => string) =>
  route.replaceAll(/:(\w+)/g, (_, name: string) => idOf(name))

/** What the page says once it is there. */
async function open(page: Page, path: string): Promise<string> {
  await go(page, path)
  await page.getByRole('main').getByRole('status', { name: 'Loading' }).first().waitFor({ state: 'detached' })
  await page.getByRole('main').locator('h1, [role=alert]').first().waitFor()
  return page.getByRole('main').innerText()
}

testLooks('every page of what has just been created is fine', async () => {
  const { appId, publisherId, advertiserId, offerId } = await createDeal(dashboard.world)
  await createPublisher(dashboard.world.database.db, TESTER, 'Nothing yet')
  const ids: Record<string, string> = { app_id: `${appId}`, publisher_id: `${publisherId}`, advertiser_id: `${advertiserId}`, offer_id: `${offerId}`, locker_id: 'new' } // prettier-ignore
  const pages = ROUTES.filter((route) => !REDIRECTS.includes(route)).filter((route) =>
    [...route.matchAll(/:(\w+)/g)].every(([, name = '']) => name in ids),
  )
  assert.ok(pages.length > 45, `${pages.length} pages`)
  const { page, complaints } = await dashboard.signIn('operator')
  const broken: string[] = []
  for (const route of pages) {
    const path = fill(route, (name) => ids[name] ?? '')
    const text = await open(page, path)
    if (/could not be loaded|Page not found|^Not found/m.test(text)) broken.push(`${path}: ${text}`)
    await checkLooks(page).catch((error: Error) => broken.push(`${path}: ${error.message}`))
    broken.push(...complaints.splice(0).map((one) => `${path}: ${one}`))
  }
  assert.deepEqual(broken, [])
})

testLooks('a page about what does not exist says so, in the shell', async () => {
  const { page } = await dashboard.signIn('operator')
  const broken: string[] = []
  for (const wrong of ['999999', 'x y'])
    for (const route of ROUTES.filter((route) => route.includes(':'))) {
      const path = fill(route, () => encodeURIComponent(wrong))
      const says = page.getByText(/^(Page not|Not) found$/).first()
      await go(page, path)
      await says.waitFor({ timeout: PATIENCE_MS }).catch(async () => broken.push(`${path}: ${await open(page, path)}`))
      if (route.startsWith('/network/advertisers')) await checkLooks(page) // they all look alike
    }
  assert.deepEqual(broken, [])
})
