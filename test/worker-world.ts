// Worker processes on the database of a world, and a publisher's server that watches what they send to it.
import { readdirSync, readlinkSync, realpathSync } from 'node:fs'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after } from 'node:test'
import { sql } from 'kysely'
import type { Db } from '../src/db/open.ts'
import { DEFAULTS, saveSettings } from '../src/features/postbacks/settings.ts'
import { type Deal, createDeal } from './conversion-rows.ts'
import { Installation, type Running } from './installation.ts'
import { SECRET_KEY, useWorld, type World } from './world.ts'
import { TESTER } from './tester.ts'

/** One request: when it came, and when it was answered with 2xx. Counted, not timed. */
export type Arrival = {
  webhookId: string
  appId: number
  conversionId: string
  status: string
  came: number
  accepted: number | null
}

/** A world with two worker processes, which are not started yet, and a publisher's server. */
export function useTwoWorkers(name: string) {
  const server = new PublisherServer()
  const world = useWorld(name, async () => {
    await server.open()
    await watchQueue(world.database.db)
  })
  const first = new WorkerProcess(world, 'first')
  const second = new WorkerProcess(world, 'second')
  after(async () => {
    await first.remove()
    await second.remove()
    await server.close()
  })
  return { server, world, first, second }
}

export class PublisherServer {
  readonly arrivals: Arrival[] = []
  /** The most that were under way at once, by app. */
  readonly mostAtOnce = new Map<number, number>()
  /** Says with which status, and when. */
  answer: (arrival: Arrival) => Promise<number> = async () => 200
  readonly #atOnce = new Map<number, number>()
  #clock = 0
  readonly #server = createServer((request, response) => {
    const parts: Buffer[] = []
    request.on('data', (part: Buffer) => parts.push(part)).on('error', () => {})
    request.on('end', () => void this.#receive(request, response, Buffer.concat(parts).toString()))
  })

  async open(): Promise<void> {
    await new Promise<void>((done) => this.#server.listen(0, '127.0.0.1', done))
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`
  }

  /** How many are under way now. */
  get atOnce(): number {
    return this.#atOnce.values().reduce((sum, count) => sum + count, 0)
  }

  async #receive(request: IncomingMessage, response: ServerResponse, body: string): Promise<void> {
    const { data } = JSON.parse(body) as { data: { conversion_id: string; status: string } }
    const appId = Number(request.url?.slice(1))
    const arrival: Arrival = {
      webhookId: String(request.headers['webhook-id']),
      appId,
      conversionId: data.conversion_id,
      status: data.status,
      came: this.#clock++,
      accepted: null,
    }
    this.arrivals.push(arrival)
    this.#add(appId, 1)
    const status = await this.answer(arrival)
    this.#add(appId, -1)
    if (request.socket.destroyed) return
    if (status === 200) arrival.accepted = this.#clock++
    response.writeHead(status).end('OK')
  }

  #add(appId: number, count: number): void {
    const atOnce = (this.#atOnce.get(appId) ?? 0) + count
    this.#atOnce.set(appId, atOnce)
    this.mostAtOnce.set(appId, Math.max(atOnce, this.mostAtOnce.get(appId) ?? 0))
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections()
    await new Promise((done) => this.#server.close(done))
  }
}

/** `offerdeck serve --only worker`, which can be killed, frozen and started again. */
export class WorkerProcess {
  readonly name: string
  readonly #world: World
  readonly #home: Installation
  #running: Running | null = null

  constructor(world: World, name: string) {
    this.name = name
    this.#world = world
    this.#home = new Installation()
  }

  async start(more: Record<string, string> = {}): Promise<void> {
    const env = {
      DATABASE_URL: databaseUrl(this.#world.databaseName, this.name),
      SECRET_KEY,
      POSTBACK_ALLOW: '127.0.0.0/8',
      ...more,
    }
    this.#running = this.#home.start(['serve', '--only', 'worker'], env)
    await this.#running.prints('worker is running')
  }

  async kill(signal: 'SIGTERM' | 'SIGKILL'): Promise<number | null> {
    return (await this.#running?.kill(signal))?.status ?? null
  }

  freeze(): void {
    process.kill(this.#pid, 'SIGSTOP')
  }

  thaw(): void {
    process.kill(this.#pid, 'SIGCONT')
  }

  /** The process that works in its folder. */
  get #pid(): number {
    const folder = realpathSync(this.#home.folder)
    const pid = readdirSync('/proc').find((name) => /^\d+$/.test(name) && cwdOf(name) === folder)
    if (pid === undefined) throw new Error(`Worker ${this.name} does not run.`)
    return Number(pid)
  }

  remove(): Promise<void> {
    return this.#home.remove()
  }
}

function cwdOf(pid: string): string {
  try {
    return readlinkSync(`/proc/${pid}/cwd`)
  } catch {
    return '' // it ended meanwhile
  }
}

/** For a process of its own. PostgreSQL knows its connections by the name. */
export function databaseUrl(database: string, name: string): string {
  const given = JSON.parse(process.env['TEST_POSTGRES'] ?? '{}') as { host: string; user: string; password: string }
  const { host, user, password } = given
  return `postgres://localhost/${database}?${new URLSearchParams({ host, user, password, application_name: name }).toString()}`
}

/** An app of its own publisher, with POST postbacks under its id, and a lane of this width. */
export async function createDealWithLane(world: World, server: PublisherServer, width: number): Promise<Deal> {
  const { db } = world.database
  const deal = await createDeal(world)
  const url = `${server.url}/${deal.appId}`
  await saveSettings(db, TESTER, SECRET_KEY, deal.appId, { ...DEFAULTS, method: 'POST', url })
  await db.updateTable('postback_lanes').set({ width }).where('app_id', '=', deal.appId).execute()
  return deal
}

/** From now on workers neither widen nor narrow a lane, and every claim is recorded with the name of its worker. */
export async function watchQueue(db: Db): Promise<void> {
  await sql`
    CREATE FUNCTION keep_width() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN NEW.width := OLD.width; RETURN NEW; END $$;
    CREATE TRIGGER keep_width BEFORE UPDATE ON postback_lanes FOR EACH ROW
      WHEN (current_setting('application_name') <> 'offerdeck') EXECUTE FUNCTION keep_width();
    CREATE TABLE seen_claims (claim_id uuid NOT NULL, postback_id uuid NOT NULL, worker text NOT NULL);
    CREATE FUNCTION note_claim() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN
        INSERT INTO seen_claims VALUES (NEW.claim_id, NEW.postback_id, current_setting('application_name'));
        RETURN NULL;
      END $$;
    CREATE TRIGGER note_claim AFTER UPDATE ON postback_queue FOR EACH ROW
      WHEN (NEW.claim_id IS DISTINCT FROM OLD.claim_id AND NEW.claim_id IS NOT NULL) EXECUTE FUNCTION note_claim()`.execute(
    db,
  )
}

/** How many claims each worker has made. */
export async function countClaims(db: Db): Promise<Map<string, number>> {
  const { rows } = await sql<{ worker: string; count: number }>`
    SELECT worker, count(*) FROM seen_claims GROUP BY 1`.execute(db)
  return new Map(rows.map((row) => [row.worker, row.count]))
}

/** As time would do, but sooner: ends the leases of a worker that does not run. */
export async function endLeasesOf(db: Db, worker: WorkerProcess): Promise<void> {
  await sql`
    UPDATE postback_queue SET lease_until = now() - interval '1 second'
    WHERE claim_id IN (SELECT claim_id FROM seen_claims WHERE worker = ${worker.name})`.execute(db)
}

/** As time would do, but sooner: what waits for its next attempt is due. */
export async function hurryRetries(db: Db): Promise<void> {
  await sql`UPDATE postback_queue SET due_at = now() WHERE state = 'later'`.execute(db)
}

export async function isQueueEmpty(db: Db): Promise<boolean> {
  const { rows } = await sql`SELECT FROM postback_queue LIMIT 1`.execute(db)
  return rows.length === 0
}

/** Those whose reversal came before the approval was accepted. */
export function findDisorder(arrivals: readonly Arrival[]): Arrival[][] {
  return [...Map.groupBy(arrivals, (one) => one.conversionId).values()].filter((all) => {
    const firstReversal = Math.min(...all.filter((one) => one.status === 'reversed').map((one) => one.came))
    const approvals = all.filter((one) => one.status === 'approved')
    return firstReversal < Infinity && !approvals.some((one) => one.accepted !== null && one.accepted < firstReversal)
  })
}
