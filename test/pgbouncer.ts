// A real PgBouncer in front of a world's database.
import { type ChildProcess, spawn } from 'node:child_process'
import { chmodSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { endProcess } from './end-process.ts'
import { createFolder } from './folders.ts'
import { until } from './installation.ts'
import { freePort, isListening } from './ports.ts'
import type { World } from './world.ts'

export class PgBouncer {
  readonly url: string
  readonly #folder: string
  readonly #start: () => Promise<ChildProcess>
  #process!: ChildProcess // once it is started

  private constructor(url: string, folder: string, start: () => Promise<ChildProcess>) {
    this.url = url
    this.#folder = folder
    this.#start = start
  }

  static async open(
    world: World,
    { mode, connections = 20 }: { mode: string; connections?: number },
  ): Promise<PgBouncer> {
    const folder = createFolder('pgbouncer')
    const port = await freePort()
    const { host = '', user, password } = world.connection('') as { host?: string; user: string; password: string }
    const file = join(folder, 'pgbouncer.ini')
    writeFileSync(
      file,
      `[databases]\n* = host=${host} user=${user} password=${password}\n[pgbouncer]\nlisten_addr = 127.0.0.1\n` +
        `listen_port = ${port}\nunix_socket_dir =\nauth_type = any\npool_mode = ${mode}\ndefault_pool_size = ${connections}\n`,
    )
    chmodSync(file, 0o644)
    // It refuses to be root, and the database's socket is for its owner alone.
    const { uid, gid } = statSync(host)
    const start = async () => {
      const child = spawn('pgbouncer', ['-q', file], { stdio: 'ignore', ...(process.getuid?.() === 0 && { uid, gid }) })
      await until(() => isListening(port))
      return child
    }
    const pooler = new PgBouncer(`postgres://${user}@127.0.0.1:${port}/${world.databaseName}`, folder, start)
    pooler.#process = await start()
    return pooler
  }

  /** As after a crash: every connection is cut. */
  async restart(): Promise<void> {
    await endProcess(this.#process)
    this.#process = await this.#start()
  }

  async close(): Promise<void> {
    await endProcess(this.#process)
    rmSync(this.#folder, { recursive: true, force: true })
  }
}
