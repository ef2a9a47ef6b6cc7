// Links as a browser follows them: real Chromium, on a desktop and on a phone.
import assert from 'node:assert/strict'
import { createServer, type IncomingMessage } from 'node:http'
import { after, before, test } from 'node:test'
import type { Browser } from 'playwright-core'
import type { IssuedCredentials } from '../../src/features/apps/keys.ts'
import { createLinkSigner } from '../../src/features/offers/links.ts'
import { useBrowser } from '../chromium.ts'
import { SECRET_KEY, useWorld } from '../world.ts'

const LOOKS = [
  { viewport: { width: 1280, height: 800 } },
  { viewport: { width: 390, height: 844 } },
  { viewport: { width: 390, height: 844 }, colorScheme: 'dark' as const },
]
const DAY_MS = 86_400_000

/** The advertiser: accepts every visitor. */
const arrivals: IncomingMessage[] = []
const advertiser = createServer((request, response) => {
  if (request.url !== '/favicon.ico') arrivals.push(request)
  response.setHeader('content-type', 'text/html').end('<title>The offer</title><h1>Welcome</h1>')
})

let appId: number
let live: IssuedCredentials
let url: string
let destination: string
const world = useWorld('links_e2e', async () => {
  await new Promise<void>((resolve) => advertiser.listen(0, '127.0.0.1', resolve))
  destination = `http://127.0.0.1:${(advertiser.address() as { port: number }).port}/go?c={click_id}&s={aff_sub}`
  ;({ appId, live } = await world.createApp({ blockedCategories: ['game'] }))
  await world.app.server.listen({ host: '127.0.0.1', port: 0 })
  const { port } = world.app.server.server.address() as { port: number }
  url = `http://127.0.0.1:${port}`
})
after(() => advertiser.close())

let browser: Browser
before(async () => {
  browser = await useBrowser()
})

const signer = createLinkSigner(SECRET_KEY)
function linkOf(offerId: number, more: { userId?: string; issuedAt?: number } = {}): string {
  const issuedAt = Math.floor(Date.now() / 1000)
  return `${url}/c/${offerId}/${signer.sign({ appId, isTest: false, issuedAt, requestId: 'req_1', userId: 'u', subIds: ['a&b', null, null, null], ...more })}` // prettier-ignore
}

/** A link for each page that an offer can lead to. */
async function refusedLinks(): Promise<Record<string, string>> {
  const [open = 0, later = 0, full = 0, android = 0, game = 0, done = 0, paused = 0] = await world.createOffers(
    {},
    { starts_at: new Date(Date.now() + DAY_MS).toISOString() },
    { total_click_cap: 1 },
    { platforms: ['android', 'ios'] },
    { category: 'game' },
    {},
    { status: 'paused' },
  )
  await world.click(full, live)
  const { clickId } = await world.click(done, live)
  await world.confirm(done, clickId)
  await world.app.refresh()
  return {
    'This link does not work': `${url}/c/${open}/nonsense`,
    'This link has expired': linkOf(open, { issuedAt: 1_600_000_000 }),
    'This offer has not started yet': linkOf(later),
    'This offer is full': linkOf(full),
    'This offer is not for your device': linkOf(android),
    'This offer is not available here': linkOf(game),
    'You have already completed this offer': linkOf(done),
    'This offer has ended': linkOf(paused),
  }
}

test('every page that explains is plain to see, on a desktop, a phone and in the dark, without complaint', async () => {
  const links = await refusedLinks()
  for (const look of LOOKS) {
    const context = await browser.newContext(look)
    const page = await context.newPage()
    const complaints: string[] = []
    page.on('console', (message) => {
      const isTheStatus = message.location().url === page.url() && message.text().includes('responded with a status')
      if (message.type() === 'error' && !isTheStatus) complaints.push(message.text())
    })
    page.on('pageerror', (error) => complaints.push(error.message))
    page.on('requestfailed', (request) => {
      const isLeft = request.failure()?.errorText === 'net::ERR_ABORTED' // the next page was opened before its icon came
      if (!isLeft) complaints.push(`failed: ${request.url()} ${request.failure()?.errorText}`)
    })
    for (const [title, link] of Object.entries(links)) {
      const answer = await page.goto(link)
      assert.ok([403, 404, 410].includes(answer?.status() ?? 0), title)
      assert.equal(await page.title(), title)
      assert.ok(await page.getByRole('heading', { name: title }).isVisible())
      const { fits, font } = await page.evaluate<{ fits: boolean; font: string }>(
        '({ fits: document.documentElement.scrollWidth <= innerWidth, font: getComputedStyle(document.body).fontFamily })',
      )
      assert.ok(fits, 'nothing sticks out')
      assert.match(font, /system-ui/, 'the style was let in')
      assert.deepEqual(complaints, [], title)
    }
    await context.close()
  }
})

test('a link on a page leads to the advertiser, who does not learn where the user came from', async () => {
  const [offerId = 0] = await world.createOffers({ destination_url: destination })
  const context = await browser.newContext()
  const page = await context.newPage()
  await page.route('https://publisher.example/', (route) => route.fulfill({ contentType: 'text/html', body: `<a href="${linkOf(offerId)}" referrerpolicy="unsafe-url">Go</a>` })) // prettier-ignore
  await page.goto('https://publisher.example/')
  await page.getByRole('link').click()
  await page.getByRole('heading', { name: 'Welcome' }).waitFor()
  assert.equal(arrivals.length, 1)
  const [arrival] = arrivals
  assert.equal(arrival?.headers.referer, undefined)
  const query = new URL(arrival?.url ?? '', destination).searchParams
  assert.equal(query.get('s'), 'a&b')
  const clicks = await world.database.db.selectFrom('clicks').select(['click_id', 'device', 'os', 'signals']).where('offer_id', '=', offerId).execute() // prettier-ignore
  assert.deepEqual(clicks.map((click) => click.click_id), [query.get('c')]) // prettier-ignore
  assert.equal(clicks[0]?.device, 'desktop')
  // Going back and again is another click.
  await page.goBack()
  await page.getByRole('link').click()
  await page.getByRole('heading', { name: 'Welcome' }).waitFor()
  assert.equal(arrivals.length, 2)
  await context.close()
})
