// An operator at the command line, with a server running beside: commands share its database, and none needs to start one.
import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before } from 'node:test'
import { type Finished, Installation, type Running } from './installation.ts'

export type Credentials = { api_key: string; api_secret: string; signing_secret: string }
type MadeApp = Credentials & { app_id: number; test: Credentials }

export function useOperator() {
  const home = new Installation()
  let server: Running & { url: string }
  let count = 0
  before(async () => {
    await home.run(['--help']) // compiles the program, once; all others would at the same time
    server = await home.serve({ DEMO: 'off' })
  })
  after(() => home.remove())
  return {
    home,
    serverUrl: () => server.url,
    makeApp: async (): Promise<MadeApp & { publisher: string }> => {
      const publisher = `Publisher ${count++}`
      await home.json('publisher', 'create', '--name', publisher)
      return { ...(await home.json<MadeApp>('app', 'create', '--publisher', publisher, '--name', 'App')), publisher }
    },
    /** A file to import. */
    writeOffers: (...rows: Record<string, unknown>[]): string => {
      const file = join(home.folder, `offers-${count++}.json`)
      const plain = { name: 'An offer', category: 'app', payout: 1.5, destination_url: 'https://ads.example.com/' }
      writeFileSync(file, JSON.stringify(rows.map((row, i) => ({ ...plain, external_id: `row-${i}`, ...row }))))
      return file
    },
  }
}

/** A failure as an operator should see it: status 1, a sentence on the standard error, no stack. */
export function failsWith({ status, err }: Finished, message: RegExp): void {
  assert.match(err, message)
  assert.doesNotMatch(err, /^ {4}at |Unexpected error|node:internal|file:\/\//m)
  assert.equal(status, 1)
}
