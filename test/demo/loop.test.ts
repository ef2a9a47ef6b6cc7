// The demo's loop: a user of the demo site starts an offer, completes it, and has the coins by a signed postback; or what a
// locker of the site kept.
import assert from 'node:assert/strict'
import { readFileSync, rmSync } from 'node:fs'
import { after, before, test } from 'node:test'
import type { Page } from 'playwright-core'
import { takePictures } from '../../scripts/pictures.ts'
import type { App } from '../../src/app.ts'
import { prepareDemo, prepareDemoSite } from '../../src/cli/demo.ts'
import { signUrl } from '../../src/features/postbacks/signing.ts'
import { buildWorker } from '../../src/worker.ts'
import { useBrowser } from '../chromium.ts'
import { createFolder } from '../folders.ts'
import { until } from '../installation.ts'
import { createPerson, PASSWORD } from '../people.ts'
import { freePort } from '../ports.ts'
import { TESTER } from '../tester.ts'
import { testLong } from '../tier.ts'
import { BROWSER, SECRET_KEY, World } from '../world.ts'

const world = new World('demo_loop')
const dataDir = createFolder('demo-loop')
let app: App
let worker: Awaited<ReturnType<typeof buildWorker>>
let url: string
let signingSecret: string
before(async () => {
  url = `http://127.0.0.1:${await freePort()}`
  await world.openDatabase()
  const { database, log } = world
  const config = { ...world.config, publicUrl: url, requireHttps: false, demo: true, dataDir }
  const context = { config, database, secretKey: SECRET_KEY, by: TESTER }
  const demo = await prepareDemo(context)
  assert.ok(demo !== null)
  const demoSite = await prepareDemoSite(context, demo)
  assert.deepEqual(await prepareDemoSite(context, demo), demoSite) // as the next start does
  signingSecret = demoSite?.signing_secret ?? ''
  worker = await buildWorker({ config, secretKey: SECRET_KEY, database, log })
  app = await world.start({ ...config }, database, demoSite)
  await app.server.listen({ host: '127.0.0.1', port: Number(new URL(url).port) })
})
after(async () => {
  await app.close()
  await worker.close()
  await world.database.close()
  rmSync(dataDir, { recursive: true, force: true })
})

async function startOffer(page: Page): Promise<Page> {
  await page.getByRole('button', { name: 'Show offers' }).click()
  const wall = page.frameLocator('iframe')
  await wall.getByRole('listitem').first().click()
  const opened = page.waitForEvent('popup')
  await wall.getByRole('link', { name: 'Start offer' }).click()
  const advertiser = await opened
  await advertiser.getByRole('heading', { name: 'Goals' }).waitFor()
  await page.keyboard.press('Escape')
  return advertiser
}

test('coins arrive when an offer is completed, and go when it is reversed; each step is in the dashboard', async () => {
  const context = await (await useBrowser()).newContext()
  const page = await context.newPage()
  await page.goto(url)
  await page.getByRole('link', { name: 'Try it as a user' }).click()
  await page.waitForURL(`${url}/demo`)
  const advertiser = await startOffer(page)
  await advertiser.getByRole('button', { name: 'Complete' }).first().click()
  await advertiser.getByText('The conversion is approved.').waitFor()
  const coins = async () => Number((await page.locator('#coins').innerText()).replaceAll(',', ''))
  await until(async () => (await coins()) > 0)
  const link = await page.locator('#credits').getByRole('link').first().getAttribute('href')
  const conversionId = /conversions\/(.+)$/.exec(link ?? '')?.[1] ?? ''
  const { status } = await world.database.db.selectFrom('conversions').select('status').where('conversion_id', '=', conversionId).executeTakeFirstOrThrow() // prettier-ignore
  assert.equal(status, 'approved')
  await advertiser.getByRole('button', { name: 'Reverse' }).first().click()
  await advertiser.getByText('The conversion is reversed. The advertiser reversed it.').waitFor()
  await until(async () => (await coins()) === 0)
  await context.close()
})

test('an offer that fails brings no coins; the pages of both companies link to it in the dashboard', async () => {
  const { email } = await createPerson(world, 'operator')
  const context = await (await useBrowser()).newContext()
  const page = await context.newPage()
  await page.goto(`${url}/demo`)
  const advertiser = await startOffer(page)
  const fail = advertiser.getByRole('button', { name: 'Fail' })
  const goals = await fail.count()
  await fail.first().click()
  await advertiser.getByText('The conversion is rejected. The advertiser did not accept it.').waitFor()
  await advertiser.getByRole('listitem').first().getByText('rejected').waitFor()
  assert.equal(await fail.count(), goals - 1)
  const rejected = await world.database.db.selectFrom('conversions').select(['app_id', 'conversion_id', 'offer_id', 'status_reason']).where('status', '=', 'rejected').execute() // prettier-ignore
  const [{ app_id: appId, offer_id, conversion_id } = {}] = rejected
  assert.deepEqual(rejected.map(({ status_reason }) => status_reason), ['advertiser_rejected']) // prettier-ignore
  const { coins } = await page.evaluate<{ coins: number }>(`fetch('/demo/state').then((answer) => answer.json())`)
  assert.equal(coins, 0)

  const ofSite = page.locator('main > p').last().getByRole('link')
  const paths = await ofSite.evaluateAll((all) => all.map((one) => one.getAttribute('href')))
  assert.deepEqual(paths, ['conversions', 'postbacks', 'wall', 'lockers'].map((name) => `/apps/${appId}/${name}`)) // prettier-ignore
  const headers = { origin: url }
  assert.equal((await page.request.post(`${url}/manage/v1/session`, { data: { email, password: PASSWORD }, headers })).status(), 200) // prettier-ignore
  await ofSite.first().click()
  await page.getByRole('heading', { name: 'Conversions', level: 1 }).waitFor()
  const link = advertiser.getByRole('link', { name: 'conversions of this offer' })
  assert.equal(await link.getAttribute('href'), `/network/conversions?view=all&offer_id=${offer_id}`)
  await link.click()
  await advertiser.locator(`a[href$="${conversion_id}"]`).first().waitFor()
  await context.close()
})

/** Completes the first offer that a locker shows. */
async function completeOffer(page: Page, locker: Pick<Page, 'getByRole'>): Promise<void> {
  const opened = page.waitForEvent('popup')
  await locker.getByRole('link', { name: /^Start/ }).first().click() // prettier-ignore
  const advertiser = await opened
  await advertiser.getByRole('button', { name: 'Complete' }).first().click()
  await advertiser.getByText('The conversion is approved.').waitFor()
}

test('chapter two is delivered for a redeemed proof, once; it is in no page before', async () => {
  const context = await (await useBrowser()).newContext({ userAgent: BROWSER }) // headless browsers are taken for bots
  const page = await context.newPage()
  await page.goto(`${url}/demo`)
  await page.getByRole('link', { name: /The lighthouse/ }).click()
  await page.getByRole('heading', { name: 'Chapter two' }).waitFor()
  const asked = page.waitForRequest(`${url}/demo/chapter`)
  await completeOffer(page, page.frameLocator('offer-locker iframe'))
  await page.getByText('Delivered by this site’s server').waitFor()
  await page.getByText('There was nobody at the top').waitFor()
  assert.doesNotMatch((await app.server.inject('/demo/story')).body, /nobody at the top/)
  const deliver = async (proof: string) => {
    const { statusCode, body } = await app.server.inject({ method: 'POST', url: '/demo/chapter', payload: { proof } })
    return `${statusCode} ${body}`
  }
  const { proof } = (await asked).postDataJSON() as { proof: string }
  assert.match(await deliver(proof), /^400 .*was used before/s)
  assert.match(await deliver(proof.replace(/.$/, (last) => (last === '0' ? '1' : '0'))), /^400 .*not a valid proof/s)
  await page.reload()
  await page.getByText('There was nobody at the top').waitFor()
  await context.close()
})

test('the link of the site opens after an offer, and everything in lockers links to the dashboard', async () => {
  const context = await (await useBrowser()).newContext({ userAgent: BROWSER })
  const page = await context.newPage()
  await page.route('https://example.com/', (route) => route.fulfill({ body: 'Example', contentType: 'text/plain' }))
  await page.goto(`${url}/demo`)
  const links = await page.getByRole('link', { name: 'in the dashboard', exact: true }).evaluateAll((all) => all.map((one) => one.getAttribute('href'))) // prettier-ignore
  const { rows } = await world.database.pool.query<{ path: string }>(`SELECT format('/apps/%s/lockers/%s', app_id, locker_id) AS path FROM lockers ORDER BY locker_id`) // prettier-ignore
  assert.deepEqual(links, rows.map(({ path }) => path)) // prettier-ignore
  await page.getByRole('link', { name: 'Wallpapers of Pixel Harbor' }).click()
  await completeOffer(page, page)
  await page.getByRole('button', { name: 'Open the link' }).click()
  await page.waitForURL('https://example.com/')
  await context.close()
})

test('the site credits nothing without a valid signature, and nothing twice', async () => {
  const send = (query: string) => app.server.inject(`/demo/postback?${query}`)
  assert.equal((await send('user=visitor-1&coins=5&id=a')).statusCode, 401)
  assert.equal((await send(`user=visitor-1&coins=5&id=a&signature=${'0'.repeat(64)}`)).statusCode, 401)
  const query = 'user=visitor-1&coins=5&status=approved&id=a&conversion=c&offer=o'
  const signed = `${query}&signature=${signUrl(signingSecret, `${url}/demo/postback?${query}&signature=`)}`
  assert.equal((await send(signed)).body, 'OK\n')
  assert.equal((await send(signed)).body, 'DUP\n')
  assert.equal((await send(signed.replace('coins=5', 'coins=500'))).statusCode, 401)
})

test('only the pages of the demo confirm, and an unknown click says what to do', async () => {
  const payload = { click: '01a1e8db-4cd1-7000-badc-86f6c9e3b773', goal: 1, action: 'complete' }
  const foreign = await app.server.inject({ method: 'POST', url: '/demo/confirm', payload, headers: { origin: 'https://evil.example' } }) // prettier-ignore
  assert.equal(foreign.statusCode, 400)
  const unknown = await app.server.inject({ method: 'POST', url: '/demo/confirm', payload })
  assert.match(unknown.body, /Start the offer again/)
  assert.equal((await app.server.inject('/demo/offers/app/1')).statusCode, 404)
})

test('the demo confirms nothing for advertisers who are not its own, and leaves their tokens alone', async () => {
  world.app = app
  const { live } = await world.createApp()
  const [offerId = 0] = await world.createOffers({ countries: ['SE'] }) // not on the demo's wall
  const { clickId } = await world.click(offerId, live)
  const { rows: goals } = await world.database.pool.query<{ goal_id: number }>('SELECT goal_id FROM goals WHERE offer_id = $1', [offerId]) // prettier-ignore
  const readTokens = async () => (await world.database.pool.query('SELECT * FROM advertiser_tokens ORDER BY 1, 2')).rows
  const before = await readTokens()
  const payload = { click: clickId, goal: goals[0]?.goal_id, action: 'complete' }
  assert.equal((await app.server.inject({ method: 'POST', url: '/demo/confirm', payload })).statusCode, 404)
  assert.equal((await app.server.inject(`/demo/offers/app/1?click=${clickId}`)).statusCode, 404)
  assert.deepEqual(await readTokens(), before)
  const { rows } = await world.database.pool.query('SELECT FROM conversions WHERE offer_id = $1', [offerId])
  assert.equal(rows.length, 0)
})

testLong('the pictures of the README are taken from the pages as they are', async () => {
  const folder = createFolder('pictures')
  try {
    await takePictures(url, folder)
    const shown = [...readFileSync('README.md', 'utf8').matchAll(/\(docs\/pictures\/(.+?)\)/g)].map(([, name]) => name ?? '') // prettier-ignore
    assert.equal(shown.length, 4)
    for (const name of shown) {
      const [taken, kept] = [`${folder}/${name}`, `docs/pictures/${name}`].map((path) => readFileSync(path))
      assert.deepEqual(taken?.subarray(0, 24), kept?.subarray(0, 24), `${name} has its format and size`)
      assert.ok((taken?.length ?? 0) > (kept?.length ?? 0) / 2, `${name} is not blank`)
    }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
})
