// Real Redis servers: alone, in a cluster, or with those who watch over them.
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { endProcess } from './end-process.ts'
import { createFolder } from './folders.ts'
import { until } from './installation.ts'
import { freePort } from './ports.ts'

const ON_THIS_MACHINE = ['--bind', '127.0.0.1', '--save', '', '--appendonly', 'no', '--protected-mode', 'no']

export class RedisServer {
  readonly port: number
  readonly #folder = createFolder('redis')
  readonly #process: ChildProcess

  private constructor(port: number, options: string[]) {
    this.port = port
    this.#process = spawn('redis-server', [...options, '--port', String(port), '--dir', this.#folder], {
      stdio: 'ignore',
    })
  }

  static async start(...options: string[]): Promise<RedisServer> {
    const server = new RedisServer(await freePort(), [...ON_THIS_MACHINE, ...options])
    await until(() => server.ask('PING') === 'PONG')
    return server
  }

  /** One of those who decide which server is the master, of this one's. */
  static async startSentinel(name: string, master: RedisServer, quorum: number): Promise<RedisServer> {
    const [port, folder] = [await freePort(), createFolder('sentinel')]
    const file = join(folder, 'sentinel.conf') // it writes there what it learns
    const lines = [`monitor ${name} 127.0.0.1 ${master.port} ${quorum}`, `down-after-milliseconds ${name} 1000`, `failover-timeout ${name} 4000`] // prettier-ignore
    writeFileSync(file, `bind 127.0.0.1\n${lines.map((line) => `sentinel ${line}\n`).join('')}`)
    const sentinel = new RedisServer(port, [file, '--sentinel'])
    await until(() => sentinel.ask('PING') === 'PONG')
    return sentinel
  }

  /** What it answers to a command; empty while it does not. */
  ask(...command: string[]): string {
    try {
      return execFileSync('redis-cli', ['-p', String(this.port), ...command], {
        encoding: 'utf8',
        stdio: 'pipe',
      }).trim()
    } catch {
      return ''
    }
  }

  async stop(): Promise<void> {
    await endProcess(this.#process)
    rmSync(this.#folder, { recursive: true, force: true })
  }
}

/** Three masters that share the keys. */
export async function startRedisCluster(): Promise<RedisServer[]> {
  const servers: RedisServer[] = []
  for (let i = 0; i < 3; i++) servers.push(await RedisServer.start('--cluster-enabled', 'yes'))
  const addresses = servers.map(({ port }) => `127.0.0.1:${port}`)
  execFileSync('redis-cli', ['--cluster', 'create', ...addresses, '--cluster-yes'], { stdio: 'pipe' })
  for (const server of servers) await until(() => server.ask('CLUSTER', 'INFO').includes('cluster_state:ok'))
  return servers
}
