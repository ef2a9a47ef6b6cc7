// The examples that show a wall, run as they are.
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { copyFileSync, readFileSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { basename, join } from 'node:path'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import { build, type Plugin, type Rolldown, runnerImport } from 'vite'
import { becomes, useDashboard } from '../dashboard/browser.ts'
import { createFolder } from '../folders.ts'
import { until } from '../installation.ts'
import { openSiteWith } from '../other-site.ts'
import { signed } from './wall-url.ts'

const site = useDashboard('wall_examples')
const { world } = site

const srcOf = (html: string) => (/<iframe src="([^"]+)"/.exec(html)?.[1] ?? '').replaceAll(/&(amp|#0?38);/g, '&')

/** In a folder of its own, as its comment says, and loaded as WordPress would: with what it calls of it. */
const wordpressIn = (folder: string) => `
define('OFFERDECK_URL', getenv('OFFERDECK_URL')); define('OFFERDECK_API_KEY', getenv('API_KEY')); define('OFFERDECK_SIGNING_SECRET', getenv('SIGNING_SECRET'));
function add_shortcode($name, $render) { $GLOBALS['render'] = $render; }
function wp_get_current_user() { return (object) ['ID' => 7]; }
function esc_url($url) { return htmlspecialchars($url); }
require '${folder}/wordpress.php'; echo $GLOBALS['render']();`

test('the pages in PHP show the wall of a signed user', async (t) => {
  const { live } = await world.createApp()
  const env = { ...process.env, OFFERDECK_URL: site.url, API_KEY: live.api_key, SIGNING_SECRET: live.signing_secret }
  const plugin = createFolder('wordpress-plugin')
  t.after(() => rmSync(plugin, { recursive: true }))
  for (const file of ['examples/wall/wordpress.php', 'examples/sign-wall-user/php.php']) copyFileSync(file, join(plugin, basename(file))) // prettier-ignore
  for (const args of [['examples/wall/page.php'], ['-r', wordpressIn(plugin)]]) {
    const { stdout, stderr, status } = spawnSync('php', args, { env, encoding: 'utf8' })
    assert.equal(status, 0, stderr)
    const shown = await fetch(srcOf(stdout))
    assert.equal(shown.status, 200)
    assert.match(await shown.text(), /"isSigned":true/)
  }
})

test('the plain page opens the wall', async () => {
  const { values, complete } = await createSigned()
  let html = readFileSync('examples/wall/plain.html', 'utf8').replace(/<!-- .*? -->/s, '')
  for (const [name, value] of Object.entries(values)) html = html.replaceAll(name, value)
  const page = await openWallIn(html)
  await complete()
  await becomes(() => page.locator('#coins').innerText(), '100')
})

test('the component of React opens the wall, and hears of rewards', async () => {
  const { user, complete } = await createSigned()
  const code = `
    import { createRoot } from 'react-dom/client'
    import { createElement } from 'react'
    import { EarnButton } from './examples/wall/react.tsx'
    const onCredited = (reward) => (document.title = 'Credited: ' + reward)
    createRoot(document.querySelector('#app')).render(createElement(EarnButton, { user: ${JSON.stringify(user)}, onCredited }))`
  const page = await openWallIn(pageOf('', await bundle(code)))
  await complete()
  await becomes(() => page.title(), 'Credited: 100')
})

test('the component of Vue shows the wall in the page, and hears of rewards', async () => {
  const { user, complete } = await createSigned()
  const code = `
    import { createApp, h } from 'vue'
    import Wall from './examples/wall/vue.vue'
    const onCredited = (reward) => (document.title = 'Credited: ' + reward)
    createApp({ render: () => h(Wall, { user: ${JSON.stringify(user)}, onCredited }) }).mount('#app')`
  const page = await openWallIn(pageOf('', await bundle(code)), { isInline: true })
  assert.equal((await page.locator('offer-wall').boundingBox())?.height, 800)
  await complete()
  await becomes(() => page.title(), 'Credited: 100')
})

test('the page of Next signs the user on the server, and its button opens the wall', async () => {
  const { live, complete } = await createSigned()
  const { signing_secret, api_key } = live
  const env = { OFFERDECK_URL: site.url, OFFERDECK_API_KEY: api_key, OFFERDECK_SIGNING_SECRET: signing_secret }
  const onServer = `
    import { renderToString } from 'react-dom/server'
    import Page from './examples/wall/next/page.jsx'
    export async function render() {
      const page = await Page()
      return { html: renderToString(page), user: page.props.children[1].props.user }
    }`
  const define = { 'process.env': JSON.stringify(env) }
  type Rendered = { render: () => Promise<{ html: string; user: object }> }
  const server = await runnerImport<Rendered>('./entry.js', { ...BUILD, define, plugins: [entryOf(onServer), next] })
  const { html, user } = await server.module.render()
  assert.ok(!html.includes(signing_secret))
  const code = `
    import { hydrateRoot } from 'react-dom/client'
    import { createElement } from 'react'
    import Script from 'next/script'
    import { EarnButton } from './examples/wall/next/earn-button.tsx'
    hydrateRoot(document.querySelector('#app'), createElement('main', null, createElement(Script, { src: '${site.url}/sdk/v1.js' }), createElement(EarnButton, { user: ${JSON.stringify(user)} })))`
  const page = await openWallIn(pageOf(html, await bundle(code), ''))
  await complete('user-1')
  await until(async () => (await page.getByText('(+100)').count()) > 0)
  await page.keyboard.press('Escape')
  await page.getByRole('button', { name: 'Earn coins (+100)' }).waitFor()
})

async function createSigned() {
  const { live } = await world.createApp()
  const [offerId = 0] = await world.createOffers({ name: 'Plain offer', category: 'video' })
  const user = { apiKey: live.api_key, ...signed(live) } as Record<'apiKey' | 'userId' | 'exp' | 'sig', string>
  const values = { OFFERDECK_URL: site.url, API_KEY: user.apiKey, USER_ID: user.userId, EXP: user.exp, SIG: user.sig }
  const complete = async (userId = user.userId) =>
    world.confirm(offerId, (await world.click(offerId, live, `userId=${userId}`)).clickId)
  return { live, user, values, complete }
}

const pageOf = (html: string, script: string, sdk = `<script src="${site.url}/sdk/v1.js"></script>`) =>
  `<!doctype html><html lang="en"><title>Shop</title><div id="app">${html}</div>${sdk}
  <script>${script.replaceAll('</script', '<\\/script')}</script></html>`

const ENTRY = join(process.cwd(), 'entry.js')
const SCRIPT = join(process.cwd(), 'next-script.js')

type VueCompiler = {
  parse: (source: string) => { descriptor: unknown }
  compileScript: (descriptor: unknown, options: object) => { content: string }
}
const { parse, compileScript } = createRequire(import.meta.url)('@vue/compiler-sfc') as VueCompiler

/** As the comment of the example says. */
const templateOptions = { compilerOptions: { isCustomElement: (tag: string) => tag === 'offer-wall' } }
const vue: Plugin = {
  name: 'vue',
  transform: (code, id) =>
    id.endsWith('.vue')
      ? compileScript(parse(code).descriptor, { id: 'wall', inlineTemplate: true, templateOptions }).content
      : null,
}
/** What Next has for it, as far as the page uses it. */
const next: Plugin = {
  name: 'next',
  resolveId: (id) => (id === 'next/script' ? SCRIPT : null),
  load: (id) =>
    id === SCRIPT
      ? `import { createElement } from 'react'; export default ({ src }) => createElement('script', { src })`
      : null,
}
const entryOf = (code: string): Plugin => ({
  name: 'entry',
  resolveId: (id) => (id.endsWith('entry.js') ? ENTRY : null),
  load: (id) => (id === ENTRY ? code : null),
})
const alias = { vue: '@vue/runtime-dom', '@offerdeck/client': join(process.cwd(), 'client/src/index.ts') }
const BUILD = { configFile: false, logLevel: 'silent', resolve: { alias } } as const

/** As a publisher would build it. */
async function bundle(code: string): Promise<string> {
  const define = { 'process.env.NODE_ENV': '"production"', __VUE_OPTIONS_API__: 'false', __VUE_PROD_DEVTOOLS__: 'false', __VUE_PROD_HYDRATION_MISMATCH_DETAILS__: 'false' } // prettier-ignore
  const built = await build({
    ...BUILD,
    define,
    plugins: [entryOf(code), vue, next],
    build: { write: false, minify: false, lib: { entry: ENTRY, formats: ['iife'], name: 'page' } },
  })
  const [{ output }] = built as [Rolldown.RolldownOutput]
  return output[0].code
}

async function openWallIn(html: string, { isInline = false } = {}): Promise<Page> {
  const { page } = await site.open()
  await page.goto(await openSiteWith(html))
  if (!isInline) await page.getByRole('button', { name: 'Earn coins' }).click()
  const wall = page.frameLocator('iframe')
  await wall.getByRole('button', { name: 'My activity' }).waitFor()
  await wall.getByRole('button', { name: 'Videos' }).click()
  await wall.getByText('Plain offer').first().waitFor()
  return page
}
