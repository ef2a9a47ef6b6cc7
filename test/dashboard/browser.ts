// The dashboard in a real browser: Chromium against the whole server, with a database of its own.
import assert from 'node:assert/strict'
import { after, before } from 'node:test'
import { AxeBuilder } from '@axe-core/playwright'
import { type Browser, chromium, type Page } from 'playwright-core'
import { createPerson, type Role } from '../../src/features/accounts/people.ts'
import { PASSWORD } from '../people.ts'
import { freePort } from '../ports.ts'
import { useWorld, type World } from '../world.ts'

const ARGS = ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking', '--disable-component-update', '--disable-sync'] // prettier-ignore

export const DESKTOP = { width: 1280, height: 900 }
export const PHONE = { width: 375, height: 812 }

type Look = { viewport?: typeof DESKTOP; colorScheme?: 'light' | 'dark' }

export type Dashboard = {
  world: World
  readonly url: string
  /** A page of a browser that nobody has used. Everything that goes wrong on it is in `complaints`. */
  open(look?: Look): Promise<{ page: Page; complaints: string[] }>
  /** Somebody new of this role, signed in, at the page they come to first. */
  signIn(role: Role, publisherId?: number | null, look?: Look): Promise<{ page: Page; complaints: string[] }>
}

export function useDashboard(name: string, fill: (world: World) => Promise<void> = async () => {}): Dashboard {
  let browser: Browser
  let count = 0
  const world = useWorld(name, async () => {
    // Sessions and links need to know the address beforehand.
    const port = await freePort()
    await world.app.close()
    world.config = { ...world.config, publicUrl: `http://127.0.0.1:${port}`, requireHttps: false }
    world.app = await world.start()
    await world.app.server.listen({ host: '127.0.0.1', port })
    await fill(world)
  })
  before(async () => {
    browser = await chromium.launch({ executablePath: process.env['CHROMIUM'] ?? '/usr/bin/chromium', args: ARGS })
  })
  after(() => browser.close())

  const open = async ({ viewport = DESKTOP, colorScheme = 'light' }: Look = {}) => {
    const page = await (await browser.newContext({ viewport, colorScheme })).newPage()
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
    open,
    async signIn(role, publisherId = null, look = {}) {
      const email = `browser-${count++}@example.com`
      await createPerson(world.database.db, { name: 'Bea Browser', email, password: PASSWORD, role, publisherId })
      const { page, complaints } = await open(look)
      await page.goto(`${world.config.publicUrl}/sign-in`)
      await page.getByLabel('E-mail address').fill(email)
      await page.getByRole('textbox', { name: 'Password' }).fill(PASSWORD)
      await page.getByRole('button', { name: 'Sign in' }).click()
      await page.waitForURL((address) => address.pathname !== '/sign-in')
      complaints.length = 0 // that nobody was signed in yet is told as an error, too
      return { page, complaints }
    },
  }
}

/** Nothing on the page keeps anybody out: contrast, names, order, as far as a program can tell; and it is not too wide. */
export async function checkPage(page: Page): Promise<void> {
  // Some pages ask again and again: what they are waiting for is there when nothing says that it is loading.
  await page.waitForLoadState('networkidle', { timeout: 2_000 }).catch(() => {})
  await page.getByRole('status', { name: 'Loading' }).first().waitFor({ state: 'detached' })
  const { violations } = await new AxeBuilder({ page }).withTags(['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa']).analyze()
  const found = violations.map(
    ({ id, nodes }) =>
      `${id}: ${nodes
        .map(({ target, failureSummary }) => `${target.join(' ')} (${failureSummary})`)
        .slice(0, 3)
        .join(' | ')}`,
  )
  assert.deepEqual(found, [], `${page.url()} is not accessible`)
  const isWider = await page.evaluate('document.documentElement.scrollWidth > window.innerWidth + 1')
  assert.equal(isWider, false, `${page.url()} is wider than the window`)
}
