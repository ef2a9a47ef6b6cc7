// Stands between an app and its database, to be cut, or to swallow an answer: the faults of a network, without one.
import { rmSync } from 'node:fs'
import { connect, createServer, type Server, type Socket } from 'node:net'
import { join } from 'node:path'
import { type Database, openPool } from '../src/db/open.ts'
import { createFolder } from './folders.ts'
import type { World } from './world.ts'

export class PostgresProxy {
  readonly database: Database
  readonly #folder = createFolder('proxy')
  readonly #server: Server
  readonly #sockets = new Set<Socket>()
  #isCut = false
  #isFrozen = false
  #swallowAfter: string | null = null

  private constructor(world: World) {
    const connection = world.connection(world.databaseName) as { host: string; port?: number }
    const name = `.s.PGSQL.${connection.port ?? 5432}`
    this.#server = createServer((client) => this.#join(client, connect(join(connection.host, name))))
    this.#server.listen(join(this.#folder, name))
    const pool = openPool({ ...connection, host: this.#folder, connectionTimeoutMillis: 5_000 }, 10) // as without a setting
    this.database = { ...pool, embeddedIn: null, revive: async () => {} }
  }

  static async open(world: World): Promise<PostgresProxy> {
    const proxy = new PostgresProxy(world)
    await new Promise((resolve) => proxy.#server.once('listening', resolve))
    return proxy
  }

  #join(client: Socket, server: Socket): void {
    let isDoomed = false
    for (const [one, other] of [[client, server], [server, client]] as const) {
      this.#sockets.add(one)
      one.on('error', () => other.destroy())
      one.on('close', () => {
        this.#sockets.delete(one)
        other.destroy()
      })
    } // prettier-ignore
    if (this.#isCut) client.destroy()
    client.on('data', (data) => {
      if (this.#isFrozen) return
      if (this.#swallowAfter !== null && data.includes(this.#swallowAfter)) {
        this.#swallowAfter = null
        isDoomed = true
      }
      server.write(data)
    })
    server.on('data', (data) => (isDoomed ? client.destroy() : client.write(data)))
  }

  /** Cuts the database off: connections break, and new ones are refused. */
  cut(): void {
    this.#isCut = true
    for (const socket of this.#sockets) socket.destroy()
  }

  /** The database takes what it is sent, and never answers. */
  freeze(): void {
    this.#isFrozen = true
  }

  restore(): void {
    if (this.#isFrozen) for (const socket of this.#sockets) socket.destroy()
    this.#isFrozen = false
    this.#isCut = false
  }

  /** The next statement with this text in it is executed, and its connection breaks before the result arrives. */
  swallowAnswerTo(text: string): void {
    this.#swallowAfter = text
  }

  get hasSwallowed(): boolean {
    return this.#swallowAfter === null
  }

  async close(): Promise<void> {
    this.restore()
    await this.database.close()
    for (const socket of this.#sockets) socket.destroy()
    await new Promise((resolve) => this.#server.close(resolve))
    rmSync(this.#folder, { recursive: true, force: true })
  }
}
