// The processes that run on this database, on whichever machine: each says every few seconds that it is there, and takes
// its leave when it stops. One that was killed is seen no more, and forgotten after an hour, or when another one took its
// place on that machine.
import { hostname } from 'node:os'
import { uuid7 } from '../lib/uuid7.ts'
import { VERSION } from '../lib/project.ts'
import type { Db } from './open.ts'

export const BEAT_MS = 10_000
const GONE_AFTER_MS = 3 * BEAT_MS + 1_000
const FORGOTTEN_AFTER_MS = 3_600_000

export type Part = 'api' | 'worker'

export class Node {
  readonly #db: Db
  readonly #row: { node_id: string; host: string; pid: number; part: Part; version: string; started_at: Date }

  constructor(db: Db, part: Part, now = new Date()) {
    this.#db = db
    this.#row = { node_id: uuid7(now.getTime()), host: hostname(), pid: process.pid, part, version: VERSION, started_at: now } // prettier-ignore
  }

  async beat(now = new Date()): Promise<void> {
    await this.#db
      .insertInto('nodes')
      .values({ ...this.#row, seen_at: now })
      .onConflict((on) => on.column('node_id').doUpdateSet({ seen_at: now }))
      .execute()
    const before = (ms: number) => new Date(now.getTime() - ms)
    const { host, part } = this.#row
    await this.#db
      .deleteFrom('nodes')
      .where((is) =>
        is.or([
          is('seen_at', '<', before(FORGOTTEN_AFTER_MS)),
          is.and([is('host', '=', host), is('part', '=', part), is('seen_at', '<', before(GONE_AFTER_MS))]),
        ]),
      )
      .execute()
  }

  /** If the database is unavailable, the row expires by itself. */
  async leave(): Promise<void> {
    await this.#db
      .deleteFrom('nodes')
      .where('node_id', '=', this.#row.node_id)
      .execute()
      .catch(() => {})
  }
}

/** Those that are here first, then those that vanished; of each the latest first. */
export async function readNodes(db: Db, now: Date) {
  const rows = await db
    .selectFrom('nodes')
    .select(['host', 'pid', 'part', 'version', 'started_at', 'seen_at'])
    .orderBy('started_at', 'desc')
    .execute()
  const nodes = rows.map((node) => ({
    ...node,
    part: node.part as Part,
    is_here: now.getTime() - node.seen_at.getTime() < GONE_AFTER_MS,
  }))
  return nodes.toSorted((a, b) => Number(b.is_here) - Number(a.is_here))
}
