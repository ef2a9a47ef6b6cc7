// A publisher's page on an origin of its own, which shows a wall in a frame and notes the messages it gets from it.
import type { Frame, Page } from 'playwright-core'
import { openSite } from '../other-site.ts'

/** Strict, as a careful publisher sets it: no scripts or styles but its own, and frames of the wall only. */
const policyFor = (wallUrl: string) =>
  `default-src 'none'; script-src 'nonce-parent'; frame-src ${new URL(wallUrl).origin}`

export type ParentSite = {
  /** Where the page is, with the wall of this URL in it. */
  at(wallUrl: string, sandbox?: string): string
  origin: string
}

export async function openParentSite(): Promise<ParentSite> {
  const origin = await openSite((request, response) => {
    const { searchParams } = new URL(request.url ?? '/', 'http://localhost')
    const wall = searchParams.get('wall') ?? ''
    const sandbox = searchParams.get('sandbox')
    response.setHeader('Content-Type', 'text/html; charset=utf-8')
    response.setHeader('Content-Security-Policy', policyFor(wall))
    response.end(`<!doctype html><html lang="en"><title>A site</title>
      <script nonce="parent">window.messages = []; addEventListener('message', (event) => messages.push({ origin: event.origin, ...event.data }))</script>
      <iframe title="Offers" width="380" height="700" src="${wall.replaceAll('&', '&amp;')}" ${sandbox === null ? '' : `sandbox="${sandbox}"`}></iframe></html>`)
  })
  return {
    origin,
    at: (wallUrl, sandbox) =>
      `${origin}/?${new URLSearchParams({ wall: wallUrl, ...(sandbox === undefined ? {} : { sandbox }) }).toString()}`,
  }
}

export type WallMessage = { origin: string; source: string; event: string; detail: Record<string, unknown> }

export const messagesOf = (page: Page) => page.evaluate<WallMessage[]>('window.messages')

/** The wall within the page. */
export function wallIn(page: Page): Frame {
  const frame = page.frames().find((one) => one.url().includes('/wall?'))
  if (frame === undefined) throw new Error('There is no wall in this page.')
  return frame
}
