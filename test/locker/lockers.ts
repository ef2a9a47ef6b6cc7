// Lockers, and publishers' pages that show them, for tests in a browser.
import { createServer } from 'node:http'
import { after, beforeEach } from 'node:test'
import { createLocker, findLocker } from '../../src/features/lockers/lockers.ts'
import type { LockerInput } from '../../src/features/lockers/schema.ts'
import { useDashboard } from '../dashboard/browser.ts'
import { freePort } from '../ports.ts'
import { TESTER } from '../tester.ts'

type SiteOptions = { lang?: string; headers?: Record<string, string> }

export function useLockers(name: string) {
  const site = useDashboard(name)
  const { world } = site
  // A locker shows few offers, and the order differs by visitor: each test has its own alone.
  beforeEach(async () => {
    await world.database.db.updateTable('offers').set({ status: 'paused' }).execute()
    await world.app.refresh()
  })

  /** A locker of this app, with its slug if it is a link. */
  async function addLocker(appId: number, input: Partial<LockerInput> = {}) {
    const { db } = world.database
    const lockerId = await createLocker(db, TESTER, world.config, appId, { name: 'Locker', ...input })
    return { lockerId, slug: (await findLocker(db, { lockerId }))?.slug ?? '' }
  }

  /** A locker of an app of its own. */
  async function createOne(input: Partial<LockerInput> = {}) {
    const app = await world.createApp()
    return { ...app, ...(await addLocker(app.appId, input)) }
  }

  /** A publisher's page with this body; returns where it is. `localhost` is another site than 127.0.0.1. */
  async function openSite(body: string, { lang = 'en', headers = {} }: SiteOptions = {}): Promise<string> {
    const port = await freePort()
    const html = `<!doctype html><html lang="${lang}"><title>Article</title><h1>Article</h1>
      <script>window.proofs = []; addEventListener('unlocked', (event) => proofs.push(event.detail.proof))</script>
      <script src="${site.url}/locker/v1.js"></script>
      ${body}</html>`
    const server = createServer((_request, response) => {
      for (const [name, value] of Object.entries(headers)) response.setHeader(name, value)
      response.setHeader('Content-Type', 'text/html; charset=utf-8')
      response.end(html)
    })
    await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve))
    after(() => new Promise((resolve) => (server.closeAllConnections(), server.close(resolve))))
    return `http://localhost:${port}/`
  }

  return { site, world, addLocker, createOne, openSite }
}
