// A real HAProxy in front of API nodes, which asks each whether it is ready.
import { type ChildProcess, spawn } from 'node:child_process'
import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { endProcess } from './end-process.ts'
import { createFolder } from './folders.ts'
import { freePort } from './ports.ts'

export class HAProxy {
  readonly url: string
  readonly #folder = createFolder('haproxy')
  readonly #process: ChildProcess

  private constructor(port: number, nodes: readonly number[]) {
    this.url = `http://127.0.0.1:${port}`
    const servers = nodes.map((node, i) => `  server node${i} 127.0.0.1:${node} check inter 200 fall 2 rise 1\n`)
    const file = join(this.#folder, 'haproxy.cfg')
    writeFileSync(
      file,
      'defaults\n  mode http\n  timeout connect 2s\n  timeout client 30s\n  timeout server 30s\n  timeout check 10s\n  option forwardfor\n' +
        '  option redispatch\n  retries 3\n' +
        `listen api\n  bind 127.0.0.1:${port}\n  option httpchk GET /readyz\n  http-check expect status 200\n${servers.join('')}`,
    )
    this.#process = spawn('haproxy', ['-db', '-f', file], { stdio: 'ignore' })
  }

  static async open(nodes: readonly number[]): Promise<HAProxy> {
    return new HAProxy(await freePort(), nodes)
  }

  async close(): Promise<void> {
    await endProcess(this.#process)
    rmSync(this.#folder, { recursive: true, force: true })
  }
}
