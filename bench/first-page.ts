// Figure 13: how long the dashboard takes until it can be used, in a browser that has never been there.
import { setTimeout as sleep } from 'node:timers/promises'
import { type Browser, chromium, type Page } from 'playwright-core'
import { prepareCatalogue, runCli, type Say, withCopy } from './data.ts'
import { ensureProgram } from './programs.ts'
import { startOfferdeck } from './servers.ts'

const OFFERS = 1_000
const ROUNDS = 9
const ARGS = ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking', '--disable-component-update', '--disable-sync'] // prettier-ignore
const PERSON = { name: 'Bench', email: 'bench@example.com', password: 'correct horse battery' }

type Session = Awaited<ReturnType<typeof post>>

/** Milliseconds from asking for the page, and the bytes of JavaScript that came, packed. */
export type FirstPageMeasured = { signIn: number[]; home: number[]; scriptBytes: number; log: string[] }

export async function measureFirstPage(say: Say): Promise<FirstPageMeasured> {
  ensureProgram('chromium', 'chromium')
  return withCopy(await prepareCatalogue(OFFERS, say), async ({ dataDir }) => {
    const invited = await runCli(dataDir, 'user', 'create', '--email', PERSON.email, '--role', 'operator', '--json')
    const [, token] = /#([^"]+)"/.exec(invited) ?? []
    const server = await startOfferdeck(dataDir)
    await using ended = new AsyncDisposableStack()
    ended.defer(() => server.stop())
    const browser = await chromium.launch({
      executablePath: process.env['CHROMIUM'] ?? '/usr/bin/chromium',
      args: ARGS,
    })
    ended.defer(() => browser.close())
    const url = `http://127.0.0.1:${server.port}`
    say('The first page of the dashboard, again and again in a new browser …')
    const { name, password } = PERSON
    const session = await post(browser, url, '/invitation/accept', { token, name, password })
    const rounds = []
    for (let round = -1; round < ROUNDS; round++) rounds.push(await visit(browser, url, session))
    const counted = rounds.slice(1) // the first one warms the browser up
    return {
      signIn: counted.map((one) => one.signIn),
      home: counted.map((one) => one.home),
      scriptBytes: rounds[0]?.scriptBytes ?? 0,
      log: server.log,
    }
  })
}

async function visit(browser: Browser, url: string, session: Session) {
  await using context = await browser.newContext()
  const page = await context.newPage()
  const scripts: Promise<{ responseBodySize: number }>[] = []
  page.on('requestfinished', (request) => request.resourceType() === 'script' && scripts.push(request.sizes()))
  const signIn = await readyAt(page, `${url}/sign-in`, `document.querySelector('input[type=email]')`)
  await page.getByLabel('Email address').fill(PERSON.email)
  const scriptBytes = (await Promise.all(scripts)).reduce((sum, { responseBodySize }) => sum + responseBodySize, 0)
  await using signedIn = await browser.newContext({ storageState: session })
  const home = await readyAt(await signedIn.newPage(), url, `document.body?.textContent.includes('Needs attention')`)
  return { signIn, home, scriptBytes }
}

/** Milliseconds from asking for a page until this holds in it, as the page itself sees it: asking from outside is slow. */
async function readyAt(page: Page, url: string, condition: string): Promise<number> {
  await page.addInitScript(`(function look() {
    if (${condition}) window.readyAt = performance.now()
    else requestAnimationFrame(look)
  })()`)
  await page.goto(url)
  for (;;) {
    const ms = await page.evaluate<number | undefined>('window.readyAt')
    if (ms !== undefined) return ms
    await sleep(20)
  }
}

/** Posts as a browser does, and returns the cookies it then has. */
async function post(browser: Browser, url: string, path: string, data: object) {
  await using context = await browser.newContext()
  const answer = await context.request.post(`${url}/manage/v1${path}`, { data, headers: { origin: url } })
  if (!answer.ok()) throw new Error(`${path}: ${await answer.text()}`)
  return await context.storageState()
}
