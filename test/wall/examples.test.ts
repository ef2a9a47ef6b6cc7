// The examples that show a wall, run as they are.
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { build, type Plugin, type Rolldown } from 'vite'
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
  const { values } = await createSigned()
  let html = readFileSync('examples/wall/plain.html', 'utf8').replace(/<!-- .*? -->/s, '')
  for (const [name, value] of Object.entries(values)) html = html.replaceAll(name, value)
  await openWallIn(html)
})

test('the components of React and Next open the wall', async () => {
  const { user } = await createSigned()
  const react = (path: string) => `
    import { createRoot } from 'react-dom/client'
    import { createElement } from 'react'
    import { EarnButton } from './examples/wall/${path}'
    createRoot(document.querySelector('#app')).render(createElement(EarnButton, { user: ${JSON.stringify(user)}, onCredited() {} }))`
  for (const code of [react('react.tsx'), react('next/earn-button.tsx')]) await openWallIn(pageOf(await bundle(code)))
})

async function createSigned() {
  const { live } = await world.createApp()
  await world.createOffers({ name: 'Plain offer', category: 'video' })
  const { api_key: apiKey, signing_secret } = live
  const exp = Math.floor(Date.now() / 1000) + 600
  const sig = signUser(signing_secret, { apiKey, userId: 'ann', expiresAtS: exp })
  const values = { OFFERDECK_URL: site.url, API_KEY: apiKey, USER_ID: 'ann', EXP: String(exp), SIG: sig }
  return { values, user: { apiKey, userId: 'ann', exp: String(exp), sig } }
}

const pageOf = (script: string) =>
  `<!doctype html><html lang="en"><title>Shop</title><div id="app"></div>
  <script src="${site.url}/sdk/v1.js"></script><script>${script.replaceAll('</script', '<\\/script')}</script></html>`

const ENTRY = join(process.cwd(), 'entry.js')

/** As a publisher would build it. */
async function bundle(code: string): Promise<string> {
  const entry: Plugin = {
    name: 'entry',
    resolveId: (id) => (id.endsWith('entry.js') ? ENTRY : null),
    load: (id) => (id === ENTRY ? code : null),
  }
  const built = await build({
    configFile: false,
    logLevel: 'silent',
    define: { 'process.env.NODE_ENV': '"production"' },
    plugins: [entry],
    build: { write: false, minify: false, lib: { entry: ENTRY, formats: ['iife'], name: 'page' } },
  })
  const [{ output }] = built as [Rolldown.RolldownOutput]
  return output[0].code
}

async function openWallIn(html: string): Promise<void> {
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
  await wall.getByText('Plain offer').first().waitFor()
}
