// The dashboard in a real browser: Chromium against the whole server, with a database of its own.
import assert from 'node:assert/strict'
import { after, afterEach, before } from 'node:test'
import axe, { type AxeResults } from 'axe-core'
import type { BrowserContext, Locator, Page } from 'playwright-core'
import type { Role, Team } from '../../src/features/accounts/people.ts'
import { useBrowser } from '../chromium.ts'
import { until } from '../installation.ts'
import { createPerson, PASSWORD } from '../people.ts'
import { freePort } from '../ports.ts'
import { CHECKS_ALL_LOOKS, CHECKS_LOOKS } from '../tier.ts'
import { World } from '../world.ts'

const LOOKED_AT = { exclude: [['tbody tr:nth-child(n + 6)']] } // the rows of a table are alike, and each takes its time
const WCAG = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa']

/** A colour on its way to another one is hard to read. */
const FINISH_TRANSITIONS = `new Promise(requestAnimationFrame).then(() => {
  for (const one of document.getAnimations()) if (Number.isFinite(one.effect.getComputedTiming().endTime)) one.finish()
})`

/** Buttons, badges and times whose text does not fit: what they say is needed whole. */
const CUT = `[...document.querySelectorAll('button, a.mantine-Button-root, .mantine-Badge-root, time')]
  .filter((one) => one.checkVisibility() && [one, ...one.querySelectorAll('*')].some((part) =>
    part.clientWidth > 1 && part.scrollWidth > part.clientWidth + 1 && getComputedStyle(part).overflowX !== 'visible'))
  .map((one) => one.tagName.toLowerCase() + ': ' + (one.innerText || one.ariaLabel))`

const PATIENCE_MS = 60_000

export const DESKTOP = { width: 1280, height: 900 }
export const PHONE = { width: 390, height: 844 }
const WIDE = { width: 1440, height: 900 }

type Look = { viewport?: typeof DESKTOP; colorScheme?: 'light' | 'dark'; userAgent?: string; locale?: string }

type Opened = { page: Page; complaints: string[] }

export type Dashboard = {
  world: World
  readonly url: string
  /** A page of a browser that was not used before. Everything that goes wrong on it is in `complaints`. */
  open(look?: Look): Promise<Opened>
  /** A new person of this role, signed in, at this path, or at the page of their account, which loads the least. */
  signIn(role: Role, team?: number | null | Team, look?: Look & { at?: string }): Promise<Opened>
}

/** Browsers that others were signed in with, emptied since: pages load in half the time that they take in a new one. */
const emptied: BrowserContext[] = []
const MOST_EMPTIED = 2

export function useDashboard(name: string, fill: (world: World) => Promise<void> = async () => {}): Dashboard {
  let count = 0
  let contexts: { context: BrowserContext; isPlain: boolean }[] = []
  const world = new World(name)
  before(async () => {
    // Sessions and links need to know the URL beforehand.
    const port = await freePort()
    world.config = { ...world.config, publicUrl: `http://127.0.0.1:${port}`, requireHttps: false }
    await world.open()
    await world.app.server.listen({ host: '127.0.0.1', port })
    await fill(world)
  })
  // A page that is no longer looked at still asks for news.
  afterEach(async () => {
    await Promise.all(contexts.map(({ context, isPlain }) => (isPlain && emptied.length < MOST_EMPTIED ? empty(context) : context.close()))) // prettier-ignore
    contexts = []
  })
  after(() => world.close())

  const newContext = async ({ viewport = DESKTOP, colorScheme = 'light', ...more }: Look) =>
    // Without motion nothing is looked at while it moves or changes its color.
    (await useBrowser()).newContext({ viewport, colorScheme, reducedMotion: 'reduce', ...more })

  const empty = async (context: BrowserContext) => {
    try {
      const devtools = await context.newCDPSession(context.pages()[0] as Page)
      const own = { origin: world.config.publicUrl, storageTypes: 'local_storage' }
      await devtools.send('Storage.clearDataForOrigin', own)
      await Promise.all([
        context.clearCookies(),
        context.setOffline(false),
        ...context.pages().map((one) => one.close()),
      ])
      emptied.push(context)
    } catch {
      await context.close() // the test has closed its page
    }
  }

  const openIn = async (context: BrowserContext, isPlain: boolean): Promise<Opened> => {
    contexts.push({ context, isPlain })
    context.setDefaultTimeout(PATIENCE_MS)
    const page = await context.newPage()
    const complaints: string[] = []
    page.on('console', (message) => message.type() === 'error' && complaints.push(message.text()))
    page.on('pageerror', (error) => complaints.push(error.message))
    page.on('request', (request) => {
      if (!request.url().startsWith(world.config.publicUrl) && !/^(data|blob):/.test(request.url()))
        complaints.push(`leaves: ${request.url()}`)
    })
    return { page, complaints }
  }

  return {
    world,
    get url() {
      return world.config.publicUrl
    },
    open: async (look = {}) => openIn(await newContext(look), false),
    async signIn(role, team = null, { at = '/account', ...look } = {}) {
      const email = `browser-${count++}@example.com`
      await createPerson(world, role, team, { name: 'Bea Browser', email })
      const isPlain = Object.keys(look).length === 0
      const used = isPlain ? emptied.pop() : undefined
      const { page, complaints } = await openIn(used ?? (await newContext(look)), isPlain)
      const { publicUrl } = world.config
      const answer = await page.request.post(`${publicUrl}/manage/v1/session`, {
        data: { email, password: PASSWORD },
        headers: { origin: publicUrl },
      })
      assert.equal(answer.status(), 200)
      await page.goto(publicUrl + at)
      return { page, complaints }
    },
  }
}

/** To another page as a link leads there: without loading the dashboard anew, which takes a page most of its time. */
export async function go(page: Page, path: string): Promise<void> {
  await page.evaluate(`history.pushState(null, '', ${JSON.stringify(path)})`)
}

/** What a page is looked at in: by default each width and each theme once. */
const LOOKS: [typeof DESKTOP, 'light' | 'dark'][] = CHECKS_ALL_LOOKS
  ? [[DESKTOP, 'light'], [PHONE, 'dark'], [DESKTOP, 'dark'], [PHONE, 'light'], [WIDE, 'light']] // prettier-ignore
  : [[DESKTOP, 'light'], [PHONE, 'dark']] // prettier-ignore

/** axe takes longer than all else of a test. In the short form it sees a page in one look, always the same one. */
const pathLength = (page: Page): number => new URL(page.url()).pathname.replaceAll(/\d/g, '').length

/** Nothing on the page keeps a person out, on a desktop or a phone, in light or dark. */
export async function checkLooks(page: Page): Promise<void> {
  if (!CHECKS_LOOKS) return checkPage(page)
  const before = page.viewportSize() ?? DESKTOP
  await page.mouse.move(0, 0) // what is under it looks different
  await page.getByRole('status', { name: 'Loading' }).first().waitFor({ state: 'detached' })
  for (const [i, [viewport, colorScheme]] of LOOKS.entries()) {
    await page.setViewportSize(viewport)
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' })
    const other = colorScheme === 'light' ? 'dark' : 'light'
    await page.locator(`html:not([data-mantine-color-scheme='${other}'])`).waitFor({ state: 'attached' })
    await checkFits(page)
    if (CHECKS_ALL_LOOKS || i === pathLength(page) % LOOKS.length) await checkAccess(page, WCAG)
  }
  await page.setViewportSize(before)
  await page.emulateMedia({ colorScheme: 'light' })
}

/** The same for what users and visitors meet: also what axe recommends beyond the guidelines, such as the order of headings. */
export const checkUsersPage = (page: Page): Promise<void> => checkPage(page, [...WCAG, 'best-practice'])

/** Contrast, names, order, as far as a program can tell; and it is not too wide. */
export async function checkPage(page: Page, runOnly = WCAG): Promise<void> {
  await checkFits(page)
  if (CHECKS_LOOKS) await checkAccess(page, runOnly)
}

async function checkFits(page: Page): Promise<void> {
  await page.getByRole('status', { name: 'Loading' }).first().waitFor({ state: 'detached' })
  const isWider = () => page.evaluate<boolean>('document.documentElement.scrollWidth > window.innerWidth + 1')
  await becomes(isWider, false, `${page.url()} is wider than the window`)
  // A page that was just given another width may not have followed yet.
  await becomes(
    async () => (await page.evaluate<string[]>(CUT)).join(', '),
    '',
    `${page.url()} shows these only in part`,
  )
}

async function checkAccess(page: Page, runOnly: readonly string[]): Promise<void> {
  await page.evaluate(FINISH_TRANSITIONS)
  if (!(await page.evaluate<boolean>(`'axe' in window`))) await page.evaluate(axe.source)
  const asked = { runOnly, resultTypes: ['violations'], preload: false }
  const { violations } = await page.evaluate<AxeResults>(
    `axe.run(${JSON.stringify(LOOKED_AT)}, ${JSON.stringify(asked)})`,
  )
  const found = violations.map(
    ({ id, nodes }) =>
      `${id}: ${nodes
        .map(({ target, failureSummary }) => `${target.join(' ')} (${failureSummary})`)
        .slice(0, 3)
        .join(' | ')}`,
  )
  assert.deepEqual(found, [], `${page.url()} is not accessible`)
}

/** Points at something until this explains it: a page that moves under the pointer meanwhile is pointed at again. */
export async function explains(page: Page, what: Locator, text: string): Promise<void> {
  const tooltip = page.getByRole('tooltip').filter({ hasText: text })
  await until(async () => {
    await page.mouse.move(0, 0)
    await what.hover()
    return tooltip.waitFor({ timeout: 2_000 }).then(
      () => true,
      () => false,
    )
  })
}

/**
 * Clicks an option of a list once the list stays where it is. It opens below its field and may move above it; a click in
 * between is tried again after scrolling, which can take the field out of view, and then the list is hidden.
 */
export async function pick(option: Locator): Promise<void> {
  let last: number | undefined
  await until(async () => {
    const before = last
    last = (await option.boundingBox())?.y
    return last !== undefined && last === before
  })
  await option.click()
}

/** Waits for the fact itself: what a page shows follows a notice, or an answer, in its own time. */
export async function becomes<T>(read: () => Promise<T>, wanted: T, about?: string): Promise<void> {
  let last: T | undefined
  await until(async () => (last = await read()) === wanted).catch(() => {})
  assert.equal(last, wanted, about)
}
