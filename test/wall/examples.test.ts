// The examples that show a wall, run as they are.
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { after, test } from 'node:test'
import { signUser } from '../../src/features/wall/signature.ts'
import { useDashboard } from '../dashboard/browser.ts'
import { freePort } from '../ports.ts'

const site = useDashboard('wall_examples')
const { world } = site

const srcOf = (html: string) => (/<iframe src="([^"]+)"/.exec(html)?.[1] ?? '').replaceAll(/&(amp|#0?38);/g, '&')

/** As WordPress would: what the plugin calls of it. */
const WORDPRESS = `
define('OFFERDECK_URL', getenv('OFFERDECK_URL')); define('OFFERDECK_API_KEY', getenv('API_KEY')); define('OFFERDECK_SIGNING_SECRET', getenv('SIGNING_SECRET'));
function add_shortcode($name, $render) { $GLOBALS['render'] = $render; }
function wp_get_current_user() { return (object) ['ID' => 7]; }
function esc_url($url) { return htmlspecialchars($url); }
require 'examples/wall/wordpress.php'; echo $GLOBALS['render']();`

test('the pages in PHP show the wall of a signed user', async () => {
  const { live } = await world.createApp()
  const env = { ...process.env, OFFERDECK_URL: site.url, API_KEY: live.api_key, SIGNING_SECRET: live.signing_secret }
  for (const args of [['examples/wall/page.php'], ['-r', WORDPRESS]]) {
    const { stdout, stderr, status } = spawnSync('php', args, { env, encoding: 'utf8' })
    assert.equal(status, 0, stderr)
    const shown = await fetch(srcOf(stdout))
    assert.equal(shown.status, 200)
    assert.match(await shown.text(), /"isSigned":true/)
  }
})

test('the plain page opens the wall', async () => {
  const { live } = await world.createApp()
  await world.createOffers({ name: 'Plain offer', category: 'video' })
  const exp = Math.floor(Date.now() / 1000) + 600
  const sig = signUser(live.signing_secret, { apiKey: live.api_key, userId: 'ann', expiresAtS: exp })
  const values = { OFFERDECK_URL: site.url, API_KEY: live.api_key, USER_ID: 'ann', EXP: String(exp), SIG: sig }
  let html = readFileSync('examples/wall/plain.html', 'utf8').replace(/<!-- .*? -->/s, '')
  for (const [name, value] of Object.entries(values)) html = html.replaceAll(name, value)
  const port = await freePort()
  const server = createServer((_request, response) => response.setHeader('Content-Type', 'text/html').end(html))
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve))
  after(() => new Promise((resolve) => (server.closeAllConnections(), server.close(resolve))))
  const { page } = await site.open()
  await page.goto(`http://localhost:${port}/`)
  await page.getByRole('button', { name: 'Earn coins' }).click()
  const wall = page.frameLocator('iframe')
  await wall.getByRole('button', { name: 'My activity' }).waitFor()
  await wall.getByRole('button', { name: 'Videos' }).click()
  await wall.getByText('Plain offer').waitFor()
})
