// The real program to be fuzzed: an API process and a worker on an embedded PostgreSQL with the demo in it, a mail server
// and a receiver of postbacks.
import { createServer, type Server } from 'node:http'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import type { AddressInfo } from 'node:net'
import { type EmbeddedPostgres, holdEmbeddedPostgres } from '../../../src/db/embedded.ts'
import { type Database, openPool } from '../../../src/db/open.ts'
import { Installation, type Running } from '../../installation.ts'
import { MailServer } from '../../mail-server.ts'
import { freePort } from '../../ports.ts'
import { SECRET_KEY, World } from '../../world.ts'
import { type Held, Inspector } from './inspector.ts'

/** Nothing else listens there, so that a postback cannot reach the program itself. */
const RECEIVER = '127.0.0.2'
/** So long the API may be busy with one thing, on a machine that has much else to do. */
const STALL_MS = 5_000
export const METRICS_TOKEN = 'a token for figures in tests'

export class Place {
  readonly home = new Installation()
  readonly mail = new MailServer()
  readonly world = new World('fuzz')
  readonly #receiver: Server
  api!: Running & { url: string }
  worker!: Running
  inspectors: Inspector[] = []
  receiverUrl = ''
  database!: Database
  #isOver = false
  #embedded: EmbeddedPostgres | null = null

  constructor() {
    this.#receiver = createServer((request, response) => {
      request.resume()
      response.end('[{"id":1,"name":"An offer","payout":"1.00","url":"https://ads.example.com/"}]')
    })
  }

  async open(): Promise<void> {
    await this.mail.open()
    this.#receiver.listen(0, RECEIVER)
    await once(this.#receiver, 'listening')
    this.receiverUrl = `http://${RECEIVER}:${(this.#receiver.address() as AddressInfo).port}`
    this.home.env = {
      SECRET_KEY,
      TRUST_PROXY: '127.0.0.1',
      POSTBACK_ALLOW: `${RECEIVER}/32`,
      SMTP_URL: this.mail.url,
      METRICS_TOKEN,
      SECURITY_CONTACT: 'security@example.com',
    }
    const [file = '', ...command] = this.home.program
    const ports = [await freePort(), await freePort()] as const
    this.home.program = [file, `--inspect=127.0.0.1:${ports[0]}`, ...command]
    this.api = await this.home.serve({}, ['--only', 'api'])
    this.home.program = [file, `--inspect=127.0.0.1:${ports[1]}`, ...command]
    this.worker = this.home.start(['serve', '--only', 'worker'])
    await this.worker.prints('is running')
    for (const [i, { pid }] of [this.api, this.worker].entries()) this.inspectors.push(await Inspector.open(pid, ports[i] ?? 0)) // prettier-ignore
    this.#embedded = await holdEmbeddedPostgres(this.home.dataDir)
    this.database = { ...openPool(this.#embedded.connection, 3), embeddedIn: null, revive: async () => {} }
    this.world.database = this.database
  }

  get port(): number {
    return Number(new URL(this.api.url).port)
  }

  /** What the API and the worker hold. */
  held = (): Promise<Held[]> => Promise.all(this.inspectors.map((inspector) => inspector.held()))

  /** Looks every second whether the API does anything, and what keeps it where it does not. Ends with the API. */
  async watch(onStall: (stack: string) => void): Promise<void> {
    const inspector = this.inspectors[0]!
    while (!this.#isOver) {
      await sleep(1_000)
      if (!(await inspector.isAwake(STALL_MS).catch(() => true))) onStall(await inspector.stack())
    }
  }

  /** Lines of errors in the logs of both. */
  errors(): string[] {
    return [this.api, this.worker].flatMap(({ err }) =>
      err.split('\n').filter((line) => /^\{"level":(?:50|60),/.test(line) || /^\s+at |^\w*Error: /.test(line)),
    )
  }

  /** As an operator would; returns how both ended. */
  async stop(): Promise<(number | null)[]> {
    this.#isOver = true
    for (const inspector of this.inspectors) inspector.close() // Node does not end under a debugger
    return [(await this.api.kill('SIGTERM')).status, (await this.worker.kill('SIGTERM')).status]
  }

  async close(): Promise<void> {
    this.#isOver = true
    for (const inspector of this.inspectors) inspector.close()
    await this.database?.close()
    await this.#embedded?.release()
    await this.home.remove()
    this.#receiver.closeAllConnections()
    this.#receiver.close()
    await this.mail.close()
  }
}
