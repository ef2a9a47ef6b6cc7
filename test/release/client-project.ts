// An empty project with the packed client installed in it, for whatever Node the system has.
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, existsSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { delimiter, dirname, join } from 'node:path'
import type { TestContext } from 'node:test'
import { promisify } from 'node:util'
import { packClient } from '../../scripts/release/pack-client.ts'
import { until } from '../installation.ts'
import { freePort } from '../ports.ts'

const ROOT = join(import.meta.dirname, '../..')
/** Without our own tools, among which there is a Node. */
const FOLDERS = (process.env['PATH'] ?? '').split(delimiter).filter((one) => !one.includes('node_modules'))
const systemNode = FOLDERS.map((one) => join(one, 'node')).find((file) => existsSync(file))

/** The Node of the system, and ours. */
export const NODES = [...new Set([systemNode ?? process.execPath, process.execPath])]

/** As npm has them: programs, and how they run a file. */
const RUNTIMES = [
  { package: `@oven/bun-linux-${process.arch === 'arm64' ? 'aarch64' : 'x64'}@1.4.4`, file: 'bin/bun', args: ['run'] },
  { package: `@deno/linux-${process.arch}-glibc@2.9.6`, file: 'deno', args: ['run', '--allow-all'] },
]

/** Bun and Deno, installed into a folder. */
export async function installRuntimes(folder: string): Promise<{ program: string; args: string[] }[]> {
  mkdirSync(folder)
  writeFileSync(join(folder, 'package.json'), '{}')
  const args = ['install', '--no-audit', '--no-fund', ...RUNTIMES.map((one) => one.package)]
  await promisify(execFile)('npm', args, { cwd: folder })
  return RUNTIMES.map((one) => ({
    program: join(folder, 'node_modules', one.package.slice(0, one.package.lastIndexOf('@')), one.file),
    args: one.args,
  }))
}

export class ClientProject {
  readonly folder: string

  private constructor(folder: string) {
    this.folder = folder
  }

  static async create(folder: string): Promise<ClientProject> {
    const project = new ClientProject(join(folder, 'project'))
    mkdirSync(project.folder)
    const PATH = [...FOLDERS, dirname(process.execPath)].join(delimiter)
    const args = ['install', '--offline', '--no-audit', '--no-fund', packClient(folder)]
    await promisify(execFile)('npm', args, { cwd: project.folder, env: { ...process.env, PATH } })
    return project
  }

  write(name: string, text: string): void {
    writeFileSync(join(this.folder, name), text)
  }

  /** Of the examples for the client, and in `wall` of those for pages. */
  copyExamples(): void {
    cpSync(join(ROOT, 'examples/client'), this.folder, { recursive: true })
    cpSync(join(ROOT, 'examples/wall'), join(this.folder, 'wall'), { recursive: true })
  }

  /** A package of the repository, as if it were installed here. */
  link(...names: string[]): void {
    for (const name of names) {
      const place = join(this.folder, 'node_modules', name)
      mkdirSync(dirname(place), { recursive: true })
      if (!existsSync(place)) symlinkSync(join(ROOT, 'node_modules', name), place)
    }
  }

  async run(program: string, args: string[], env: Record<string, string> = {}): Promise<string> {
    const options = { cwd: this.folder, env: { ...process.env, ...env } }
    const { stdout } = await promisify(execFile)(program, args, options).catch((error: { stdout?: string }) => {
      throw new Error(`${args.join(' ')} failed.\n${error.stdout ?? ''}`, { cause: error })
    })
    return stdout
  }

  /** Runs a program until the test ends; what it has printed so far is in `printed`. */
  start(t: TestContext, file: string, env: Record<string, string>) {
    const child = spawn(process.execPath, [file], {
      cwd: this.folder,
      env: { ...process.env, ...env },
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    let printed = ''
    child.stdout.setEncoding('utf8').on('data', (text: string) => (printed += text))
    const stop = async () => {
      child.kill('SIGKILL')
      if (child.exitCode === null && child.signalCode === null) await once(child, 'close')
    }
    t.after(stop)
    return { printed: () => printed, stop, hasEnded: () => child.exitCode !== null }
  }

  /** Resolves with the URL of a server when it answers. */
  async serve(t: TestContext, file: string, env: Record<string, string>): Promise<string> {
    const port = await freePort()
    const { hasEnded } = this.start(t, file, { ...env, PORT: String(port) })
    const url = `http://127.0.0.1:${port}`
    await until(() => fetch(url).then(() => true, hasEnded)) // prettier-ignore
    return url
  }
}
