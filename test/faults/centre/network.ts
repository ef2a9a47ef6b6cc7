// A small data centre on this machine: each of its machines is a network namespace with an address of its own, all on one
// bridge. What runs there can be killed, frozen, cut off and started again, like on machines of their own. Needs root on
// Linux.
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, createWriteStream, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fakeTime } from '../../faketime.ts'
import { createFolder } from '../../folders.ts'

const BRIDGE = 'offerdeck0'
const NET = '10.77.0'
const RESTART_MS = 1_000
const DISK_BYTES = 768 * 1024 ** 2

const run = (file: string, ...args: string[]): string =>
  execFileSync(file, args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] })
const ip = (text: string) => run('ip', ...text.split(' '))
const tc = (text: string) => run('tc', ...text.split(' '))

export class Network {
  /** Where clients and receivers are: this side of the bridge. */
  readonly address = `${NET}.1`
  readonly cidr = `${NET}.0/24`
  readonly folder = createFolder('centre')
  readonly machines: Machine[] = []

  constructor() {
    removeRemains()
    ip(`link add ${BRIDGE} type bridge`)
    ip(`addr add ${this.address}/24 dev ${BRIDGE}`)
    ip(`link set ${BRIDGE} up`)
  }

  add(name: string): Machine {
    const machine = new Machine(name, `${NET}.${10 + this.machines.length}`, join(this.folder, name))
    this.machines.push(machine)
    return machine
  }

  get services(): Service[] {
    return this.machines.flatMap(({ services }) => services)
  }

  async close(): Promise<void> {
    await Promise.all(this.services.toReversed().map((service) => service.stop('SIGKILL')))
    removeRemains()
    for (const { folder } of this.machines) run('umount', '--lazy', folder)
    rmSync(this.folder, { recursive: true, force: true })
  }
}

/** Also of a run that was killed. */
function removeRemains(): void {
  for (const name of ip('netns list').match(/^od-\S+/gm) ?? []) {
    killAll(name)
    ip(`netns del ${name}`)
    rmSync(namesOf(name), { recursive: true, force: true })
  }
  for (const [name] of ip('-o link show').matchAll(/(?<=^\d+: )(od-[^@:]+|offerdeck0)/gm)) {
    try {
      ip(`link del ${name}`)
    } catch {
      // It went with its namespace, which takes a moment.
    }
  }
}

/** What a namespace has in place of files of /etc. */
const namesOf = (space: string) => `/etc/netns/${space}`

/** Everything that runs in a namespace, at once. */
function killAll(space: string): void {
  for (const pid of ip(`netns pids ${space}`).match(/\d+/g) ?? []) kill(Number(pid))
}

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch {
    // It ended with its parent.
  }
}

export class Machine {
  readonly name: string
  readonly address: string
  readonly folder: string
  readonly services: Service[] = []
  hasMovableClock = false
  readonly #space: string

  constructor(name: string, address: string, folder: string) {
    this.name = name
    this.address = address
    this.folder = folder
    this.#space = `od-${name}`
    mkdirSync(folder, { recursive: true })
    run('mount', '-t', 'tmpfs', '-o', `size=${DISK_BYTES}`, 'tmpfs', folder)
    chmodSync(folder, 0o755)
    const [outer, inner] = [`od-${name}`, 'eth0']
    ip(`netns add ${this.#space}`)
    mkdirSync(namesOf(this.#space), { recursive: true })
    writeFileSync(join(namesOf(this.#space), 'resolv.conf'), `nameserver ${NET}.1\noptions timeout:1 attempts:2\n`)
    ip(`link add ${outer} type veth peer name ${inner} netns ${this.#space}`)
    ip(`link set ${outer} master ${BRIDGE} up`)
    ip(`-n ${this.#space} addr add ${address}/24 dev ${inner}`)
    ip(`-n ${this.#space} link set ${inner} up`)
    ip(`-n ${this.#space} link set lo up`)
  }

  /** `user`: whom it runs as; root otherwise. */
  serve(
    name: string,
    command: readonly string[],
    options: { user?: string; env?: Record<string, string> } = {},
  ): Service {
    const asUser = options.user === undefined ? [] : ['setpriv', `--reuid=${options.user}`, `--regid=${options.user}`, '--clear-groups'] // prettier-ignore
    const service = new Service(`${this.name} ${name}`, ['ip', 'netns', 'exec', this.#space, ...asUser, ...command], {
      folder: this.folder,
      log: `${this.folder}-${name}.log`, // beside it, where there is room
      env: options.env ?? {},
    })
    this.services.push(service)
    return service
  }

  /** The power is cut for a moment: all processes end at once, and what is started by itself starts again. */
  crash(): void {
    killAll(this.#space)
  }

  /** kill -9 of any one process, be it a connection of PostgreSQL. */
  killOne(chance: number): void {
    const pids = ip(`netns pids ${this.#space}`).match(/\d+/g) ?? []
    const pid = pids[Math.floor(chance * pids.length)]
    if (pid !== undefined) kill(Number(pid)) // 0 would be ourselves
  }

  /** What it sends to another one gets lost, what comes from there arrives. */
  lose(other: Machine, isLost: boolean): void {
    ip(`-n ${this.#space} route ${isLost ? 'add' : 'del'} blackhole ${other.address}/32`)
  }

  /** Its cable takes only so much, each way: what does not fit waits, for up to two seconds, and then gets lost. */
  slowDown(kilobits: number): void {
    const queue = `tbf rate ${kilobits}kbit burst 8kb latency 2s`
    tc(`qdisc replace dev od-${this.name} root ${queue}`)
    tc(`-n ${this.#space} qdisc replace dev eth0 root ${queue}`)
  }

  speedUp(): void {
    tc(`qdisc replace dev od-${this.name} root noqueue`)
    tc(`-n ${this.#space} qdisc replace dev eth0 root noqueue`)
  }

  /** The disk is full. */
  fillDisk(): void {
    try {
      writeFileSync(this.#filler, Buffer.alloc(DISK_BYTES))
    } catch {
      // Now it is.
    }
  }

  emptyDisk(): void {
    rmSync(this.#filler, { force: true })
  }

  /** Its clock goes wrong, by so many seconds. Only for what was started with `env` of `movableClock`. */
  setClock(seconds: number): void {
    writeFileSync(this.#clock, `${seconds < 0 ? '' : '+'}${seconds}s\n`)
  }

  get movableClock(): Record<string, string> {
    this.hasMovableClock = true
    this.setClock(0)
    return fakeTime({ FAKETIME_TIMESTAMP_FILE: this.#clock, FAKETIME_NO_CACHE: '1' })
  }

  get #filler(): string {
    return join(this.folder, 'filler')
  }

  get #clock(): string {
    return join(this.folder, 'clock')
  }

  /** The cable is pulled: nothing comes, nothing goes. */
  cut(): void {
    ip(`link set od-${this.name} down`)
  }

  mend(): void {
    ip(`link set od-${this.name} up`)
  }
}

type Place = { folder: string; log: string; env: Record<string, string> }

/** A process that is started again when it ends, as systemd would. */
export class Service {
  readonly name: string
  readonly #command: readonly string[]
  readonly #place: Place
  #child: ChildProcess | null = null
  #isWanted = false
  starts = 0

  constructor(name: string, command: readonly string[], place: Place) {
    this.name = name
    this.#command = command
    this.#place = place
  }

  start(): this {
    this.#isWanted = true
    this.#spawn()
    return this
  }

  #spawn(): void {
    const [file = '', ...args] = this.#command
    const { folder, log, env } = this.#place
    const { PATH = '', HOME = '' } = process.env
    const child = spawn(file, args, { cwd: folder, env: { PATH, HOME, LANG: 'C.UTF-8', ...env }, stdio: ['ignore', 'pipe', 'pipe'], detached: true }) // prettier-ignore
    const out = createWriteStream(log, { flags: 'a' })
    child.stdout.pipe(out)
    child.stderr.pipe(out, { end: false })
    this.#child = child
    this.starts++
    child.once('exit', () => {
      if (this.#child !== child) return
      this.#child = null
      if (this.#isWanted) void sleep(RESTART_MS, undefined, { ref: false }).then(() => this.#isWanted && this.#child === null && this.#spawn()) // prettier-ignore
    })
  }

  get isRunning(): boolean {
    return this.#child !== null
  }

  /** To it and all that it has started. */
  signal(signal: NodeJS.Signals): void {
    const pid = this.#child?.pid
    if (pid === undefined) return
    try {
      process.kill(-pid, signal)
    } catch {
      // It ended just now.
    }
  }

  /** For good. */
  async stop(signal: NodeJS.Signals = 'SIGTERM'): Promise<void> {
    this.#isWanted = false
    const child = this.#child
    if (child === null) return
    this.signal('SIGCONT')
    this.signal(signal)
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
  }
}
