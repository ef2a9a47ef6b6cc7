// The OpenAPI description of this version, without a database: nothing is asked of one before the first request.
import { mountRoutes, type Wires } from '../src/app.ts'
import { createLog } from '../src/cli/log.ts'
import { loadConfig } from '../src/config.ts'
import { openPool } from '../src/db/open.ts'
import type { AppCredential } from '../src/features/apps/credentials.ts'
import { createGate } from '../src/http/gate.ts'
import { createServer } from '../src/http/server.ts'

const secretKey = 'x'.repeat(32)
const config = loadConfig({ SECRET_KEY: secretKey, PUBLIC_URL: 'https://offers.your-network.com' })
const { db, pool } = openPool({}, 1)

/** Stands for what only requests use. */
const unused: never = new Proxy(() => unused, { get: () => unused }) as never
const gate = createGate<AppCredential>(unused)
const wires = new Proxy({ replica: null, config, secretKey, db, pool, gate } as object as Wires, {
  get: (known, name) => known[name as keyof Wires] ?? unused,
})

const server = createServer({ log: createLog('error'), gate, requireHttps: false, trustProxy: [], tls: null })
await mountRoutes(server, wires)
await server.ready()

/** With who may use what, which is left out of the public one. */
export const declared = structuredClone(server.swagger())
export const description = server.describe()
