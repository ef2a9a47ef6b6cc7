// A real PgBouncer in front of a world's database.
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { createFolder } from './folders.ts'
import { until } from './installation.ts'
import { freePort } from './ports.ts'
import type { World } from './world.ts'

export class PgBouncer {
  readonly url: string
  readonly #folder: string
  readonly #process: ChildProcess

  private constructor(url: string, folder: string, process: ChildProcess) {
    this.url = url
    this.#folder = folder
    this.#process = process
  }

  static async open(world: World, poolMode: string): Promise<PgBouncer> {
    const folder = createFolder('pgbouncer')
    const port = await freePort()
    const { host = '', user, password } = world.connection('') as { host?: string; user: string; password: string }
    const file = join(folder, 'pgbouncer.ini')
    writeFileSync(
      file,
      `[databases]\n* = host=${host} user=${user} password=${password}\n[pgbouncer]\nlisten_addr = 127.0.0.1\n` +
        `listen_port = ${port}\nunix_socket_dir =\nauth_type = any\npool_mode = ${poolMode}\n`,
    )
    chmodSync(file, 0o644)
    // It refuses to be root, and the database's socket is for its owner alone.
    const { uid, gid } = statSync(host)
    const child = spawn('pgbouncer', ['-q', file], { stdio: 'ignore', ...(process.getuid?.() === 0 && { uid, gid }) })
    await until(() => isListening(port))
    return new PgBouncer(`postgres://${user}@127.0.0.1:${port}/${world.databaseName}`, folder, child)
  }

  async close(): Promise<void> {
    this.#process.kill('SIGKILL')
    if (this.#process.exitCode === null && this.#process.signalCode === null) await once(this.#process, 'exit')
    rmSync(this.#folder, { recursive: true, force: true })
  }
}

function isListening(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1')
    socket.once('connect', () => resolve(true)).once('error', () => resolve(false))
    socket.once('connect', () => socket.destroy())
  })
}
