// A publisher's page that loads the SDK, on another site than the walls.
import type { Frame, Page } from 'playwright-core'
import type { IssuedCredentials } from '../../src/features/apps/keys.ts'
import { type Dashboard, type PHONE, useDashboard } from '../dashboard/browser.ts'
import { openSiteWith } from '../other-site.ts'

type SdkPages = Dashboard & {
  /** A page with a strict policy; `before` stands before the SDK. It notes the events of walls in `heard`. */
  openPage: (body?: string, viewport?: typeof PHONE, before?: string) => Promise<Page>
}

export function useSdkPages(name: string): SdkPages {
  const site = useDashboard(name)
  return Object.assign(site, {
    async openPage(body = '', viewport?: typeof PHONE, before = '') {
      const policy = `default-src 'none'; script-src ${site.url} 'nonce-parent'; frame-src ${site.url}; style-src 'none'`
      const html = `<!doctype html><html lang="en"><title>A site</title><button id="earn">Earn</button>
        ${before}<script src="${site.url}/sdk/v1.js"></script>
        <script nonce="parent">window.heard ??= []; window.listen = (wall) => { for (const name of ${JSON.stringify(EVENTS)}) wall.on(name, (detail) => heard.push([name, detail])); return wall }</script>
        ${body}</html>`
      const { page } = await site.open(viewport === undefined ? {} : { viewport })
      await page.goto(await openSiteWith(html, { 'Content-Security-Policy': policy }))
      return page
    },
  })
}

export const EVENTS = ['ready', 'opened', 'offer-started', 'credited', 'closed', 'error']

export const heard = async (page: Page) => (await page.evaluate<[string, unknown][]>('heard')).map(([name]) => name)

export const wallOf = (page: Page, userId: string): Frame | undefined =>
  page.frames().find((one) => one.url().includes(`userId=${userId}`))

export const open = (page: Page, keys: IssuedCredentials, more: object = {}) =>
  page.evaluate(`window.wall = listen(Offerdeck.open(${JSON.stringify({ apiKey: keys.api_key, userId: 'ann', platform: 'web', ...more })}))`) // prettier-ignore
