// An operator at the command line, with a server running beside, on the same database.
import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before } from 'node:test'
import { loadConfig } from '../src/config.ts'
import { buildWorker, type Worker } from '../src/worker.ts'
import { dumpDatabase, type Finished, Installation } from './installation.ts'
import { freePort } from './ports.ts'
import { databaseUrl, SECRET_KEY, World } from './world.ts'

export type Credentials = { api_key: string; api_secret: string; signing_secret: string }
type MadeApp = { app_id: number; live: Credentials; test: Credentials }

export type Beside = { worker?: boolean; env?: Record<string, string> }

export function useOperator({ worker: hasWorker = true, env = {} }: Beside = {}) {
  const home = new Installation()
  let worker: Worker | null = null
  let count = 0
  const world = new World('operator')
  before(async () => {
    const port = await freePort()
    await world.openDatabase()
    home.env = { DATABASE_URL: databaseUrl(world), SECRET_KEY, DEMO: 'off', PORT: String(port), ...env }
    world.config = loadConfig({ DATA_DIR: home.dataDir, ...home.env })
    await world.open()
    await world.app.server.listen({ host: '127.0.0.1', port })
    const { config, database, log } = world
    if (hasWorker) worker = await buildWorker({ config, database, log, secretKey: SECRET_KEY })
  })
  after(async () => {
    await worker?.close()
    await world.close()
    await home.remove()
  })
  return {
    home,
    world,
    serverUrl: () => world.config.publicUrl,
    dumpDatabase: () => dumpDatabase(world.connection(world.databaseName)),
    createApp: async (): Promise<MadeApp & { publisher: string }> => {
      const publisher = `Publisher ${count++}`
      await home.json('publisher', 'create', '--name', publisher)
      return {
        ...(await home.json<MadeApp>(
          'app',
          'create',
          '--publisher',
          publisher,
          '--name',
          'App',
          '--rate-limit',
          '100000',
        )),
        publisher,
      }
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

/**
 * A failure as an operator should see it: a sentence on the standard error, no stack, and status 1, or 2 for a command
 * that was called wrongly.
 */
export function failsWith({ status, err }: Finished, message: RegExp, expected: 1 | 2 = 1): void {
  assert.match(err, message)
  assert.doesNotMatch(err, /^ {4}at |Unexpected error|node:internal|file:\/\//m)
  assert.equal(status, expected)
  assert.equal(err.includes('\nSee: npx offerdeck '), expected === 2, err)
}
