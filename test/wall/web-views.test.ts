// The wall inside of apps: the web views of Android and iOS, by their user agents, on a slow network.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { PHONE, useDashboard } from '../dashboard/browser.ts'

const site = useDashboard('wall_web_views')
const { world } = site

const AGENTS = {
  android: 'Mozilla/5.0 (Linux; Android 14; Pixel 8 Build/AP2A.240905.003; wv) AppleWebKit/537.36 (KHTML, like Gecko) Version/4.0 Chrome/128.0.6613.146 Mobile Safari/537.36', // prettier-ignore
  ios: 'Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Mobile/15E148',
}
const SLOW = { offline: false, latency: 400, downloadThroughput: 50_000, uploadThroughput: 20_000 }

for (const [platform, userAgent] of Object.entries(AGENTS)) {
  test(`in a web view of ${platform} a user sees the offers for it, starts one in the same view, and comes back`, async () => {
    const { live } = await world.createApp()
    const destination_url = `${site.url}/healthz?c={click_id}`
    const [name, other] = [`Only for ${platform}`, `Not for ${platform}`]
    const others = Object.keys(AGENTS).filter((one) => one !== platform)
    await world.createOffers({ name, platforms: [platform], destination_url }, { name: other, platforms: others })
    const { page, complaints } = await site.open({ viewport: PHONE, userAgent })
    const devtools = await page.context().newCDPSession(page)
    await devtools.send('Network.enable')
    await devtools.send('Network.emulateNetworkConditions', SLOW)
    const query = new URLSearchParams({ apiKey: live.api_key, userId: 'ann', embed: 'webview' })
    await page.goto(`${site.url}/wall?${query.toString()}`)
    await page.getByRole('button', { name }).click()
    assert.equal(await page.getByText(other).count(), 0)
    await page.getByRole('link', { name: 'Start offer' }).click()
    await page.waitForURL(/healthz\?c=/)
    const clickId = new URL(page.url()).searchParams.get('c') ?? ''
    const { device, os } = await world.database.db.selectFrom('clicks').select(['device', 'os']).where('click_id', '=', clickId).executeTakeFirstOrThrow() // prettier-ignore
    assert.deepEqual([device, os], ['mobile', platform])
    await page.goBack()
    await page.getByRole('button', { name }).waitFor()
    assert.match(page.url(), /\/wall\?.*embed=webview/)
    assert.deepEqual(complaints, [])
  })
}
