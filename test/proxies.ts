// Proxies in front of API nodes: HAProxy, which asks each whether it is ready, and nginx and Caddy as the documentation
// sets them.
import { type ChildProcess, spawn } from 'node:child_process'
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { endProcess } from './end-process.ts'
import { createFolder } from './folders.ts'
import { freePort } from './ports.ts'

type Setting = { port: number; nodes: readonly number[]; folder: string }

/** What is written into its file, and how it is started with that. */
type Kind = { configure: (setting: Setting) => string; start: (file: string) => string[] }

export const PROXIES: Record<'HAProxy' | 'Caddy' | 'nginx', Kind> = {
  HAProxy: {
    configure: ({ port, nodes }) => {
      const servers = nodes.map((node, i) => `  server node${i} 127.0.0.1:${node} check inter 200 fall 2 rise 1\n`)
      return (
        'defaults\n  mode http\n  timeout connect 2s\n  timeout client 30s\n  timeout server 30s\n  timeout check 10s\n  option forwardfor\n' +
        '  option redispatch\n  retries 3\n' +
        `listen api\n  bind 127.0.0.1:${port}\n  option httpchk GET /readyz\n  http-check expect status 200\n${servers.join('')}`
      )
    },
    start: (file) => ['haproxy', '-db', '-f', file],
  },
  Caddy: {
    configure: ({ port, nodes }) =>
      `{\n  admin off\n}\n${atNodes(documented('text'), nodes).replace('offers.example.com', `http://127.0.0.1:${port}`)}`,
    start: (file) => ['caddy', 'run', '--adapter', 'caddyfile', '--config', file],
  },
  nginx: {
    configure: ({ port, nodes, folder }) => {
      const block = atNodes(documented('nginx'), nodes)
        .replace('listen 443 ssl http2', `listen 127.0.0.1:${port}`)
        .replaceAll(/^.*ssl_certificate.*\n/gm, '')
        .replace('offers.example.com', '127.0.0.1')
      const files = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((name) => `${name}_temp_path ${folder};\n`)
      return `daemon off;\npid ${folder}/pid;\nerror_log ${folder}/log;\nevents {}\nhttp {\naccess_log off;\n${files.join('')}${block}}\n`
    },
    start: (file) => ['nginx', '-c', file],
  },
}

/** The block of this language in docs/operations.md. */
export function documented(language: 'nginx' | 'text'): string {
  const page = readFileSync('docs/operations.md', 'utf8')
  const [, block] = new RegExp(`^\`\`\`${language}\\n(.*?)^\`\`\``, 'ms').exec(page) ?? []
  if (block === undefined) throw new Error(`docs/operations.md has no block of ${language}.`)
  return block
}

const atNodes = (block: string, nodes: readonly number[]) =>
  nodes.reduce((text, node, i) => text.replaceAll(`127.0.0.1:808${i}`, `127.0.0.1:${node}`), block)

export class Proxy {
  readonly url: string
  readonly #folder: string
  readonly #process: ChildProcess

  private constructor({ configure, start }: Kind, port: number, nodes: readonly number[]) {
    this.url = `http://127.0.0.1:${port}`
    this.#folder = createFolder('proxy')
    const file = join(this.#folder, 'config')
    writeFileSync(file, configure({ port, nodes, folder: this.#folder }))
    const [program = '', ...args] = start(file)
    const env = { ...process.env, HOME: this.#folder, XDG_DATA_HOME: this.#folder, XDG_CONFIG_HOME: this.#folder }
    this.#process = spawn(program, args, { stdio: 'ignore', env })
  }

  static async open(kind: keyof typeof PROXIES, nodes: readonly number[], port?: number): Promise<Proxy> {
    return new Proxy(PROXIES[kind], port ?? (await freePort()), nodes)
  }

  async close(): Promise<void> {
    await endProcess(this.#process)
    rmSync(this.#folder, { recursive: true, force: true })
  }
}
