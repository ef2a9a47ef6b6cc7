// What happens to machines and processes. Each fault is drawn by a number, does its harm for a while, and mends it.
import { spawn } from 'node:child_process'
import { setTimeout as sleep } from 'node:timers/promises'
import { createRandom } from '../random.ts'
import type { Machine, Network, Service } from './network.ts'

type Harm = { name: string; happen: () => Promise<void> }

/** Something that begins and ends, wherever it is. */
export type Trouble = { name: string; begin: () => void; end: () => void }

export class Faults {
  readonly #network: Network
  readonly #random: () => number
  readonly #troubles: readonly Trouble[]
  /** What happened, and how often. */
  readonly counts = new Map<string, number>()

  constructor(network: Network, seed: number, troubles: readonly Trouble[]) {
    this.#network = network
    this.#troubles = troubles
    this.#random = createRandom(seed)
  }

  get total(): number {
    return [...this.counts.values()].reduce((sum, count) => sum + count, 0)
  }

  /** One after the other until it is time; sometimes a second one comes while the first is there. */
  async happenUntil(isOver: () => boolean, onFault: (name: string) => void): Promise<void> {
    while (!isOver()) {
      const harms = this.#random() < 0.2 ? [this.#draw(), this.#draw()] : [this.#draw()]
      for (const { name } of harms) {
        onFault(name)
        const kind = name.split(':')[0] ?? ''
        this.counts.set(kind, (this.counts.get(kind) ?? 0) + 1)
      }
      await Promise.all(harms.map(({ happen }) => happen()))
      await sleep(this.#between(500, 3_000))
    }
  }

  /** Those that are likely in life are drawn more often. */
  #draw(): Harm {
    const kinds = [
      () => this.#kill(),
      () => this.#kill(),
      () => this.#killOne(),
      () => this.#freeze(),
      () => this.#cut(),
      () => this.#lose(),
      () => this.#slow(),
      () => this.#crash(),
      () => this.#fill(),
      () => this.#moveClock(),
      () => this.#flush(),
      () => this.#trouble(),
    ]
    return (this.#pick(kinds) as () => Harm)()
  }

  /** Something that begins and ends. */
  #forAWhile(name: string, begin: () => void, end: () => void): Harm {
    const ms = this.#between(500, 12_000)
    return {
      name: `${name} for ${Math.round(ms)} ms`,
      happen: async () => {
        begin()
        await sleep(ms)
        end()
      },
    }
  }

  #machine = () => this.#pick(this.#network.machines) as Machine

  #pick = <T>(all: readonly T[]): T | undefined => all[Math.floor(this.#random() * all.length)]
  #between = (least: number, most: number) => least + this.#random() * (most - least)

  /** kill -9 of one process and what it has started. */
  #kill(): Harm {
    const service = this.#pick(this.#network.services) as Service
    return { name: `kill: ${service.name}`, happen: async () => service.signal('SIGKILL') }
  }

  #killOne(): Harm {
    const [machine, chance] = [this.#machine(), this.#random()]
    return { name: `kill one: ${machine.name}`, happen: async () => machine.killOne(chance) }
  }

  #freeze(): Harm {
    const service = this.#pick(this.#network.services) as Service
    return this.#forAWhile(`freeze: ${service.name}`, () => service.signal('SIGSTOP'), () => service.signal('SIGCONT')) // prettier-ignore
  }

  #trouble(): Harm {
    const { name, begin, end } = this.#pick(this.#troubles) as Trouble
    return this.#forAWhile(`${name}:`, begin, end)
  }

  /** The cable of one machine. */
  #cut(): Harm {
    const machine = this.#machine()
    return this.#forAWhile(`cut: ${machine.name}`, () => machine.cut(), () => machine.mend()) // prettier-ignore
  }

  /** One way between two machines. */
  #lose(): Harm {
    const [from, to] = [this.#machine(), this.#machine()]
    if (from === to) return this.#cut()
    return this.#forAWhile(`lose: ${from.name} to ${to.name}`, () => from.lose(to, true), () => from.lose(to, false)) // prettier-ignore
  }

  /** From a link that is a bit short for the load to one that hardly takes anything. */
  #slow(): Harm {
    const [machine, kilobits] = [this.#machine(), Math.round(2_000 / 10 ** this.#between(0, 1.5))]
    return this.#forAWhile(`slow: ${machine.name} at ${kilobits} kbit/s`, () => machine.slowDown(kilobits), () => machine.speedUp()) // prettier-ignore
  }

  /** The power of one machine: everything on it ends at once. */
  #crash(): Harm {
    const machine = this.#machine()
    return { name: `crash: ${machine.name}`, happen: async () => machine.crash() }
  }

  #fill(): Harm {
    const machine = this.#machine()
    return this.#forAWhile(`disk full: ${machine.name}`, () => machine.fillDisk(), () => machine.emptyDisk()) // prettier-ignore
  }

  #moveClock(): Harm {
    const movable = this.#network.machines.filter(({ hasMovableClock }) => hasMovableClock)
    const [machine, seconds] = [this.#pick(movable) as Machine, Math.round(this.#between(-120, 120))]
    return this.#forAWhile(`clock: ${machine.name} by ${seconds} s`, () => machine.setClock(seconds), () => machine.setClock(0)) // prettier-ignore
  }

  /** Redis forgets everything, wherever it is. */
  #flush(): Harm {
    return {
      name: 'flush: Redis',
      happen: async () => {
        for (const { address } of this.#network.machines) spawn('redis-cli', ['-h', address, '-t', '1', 'FLUSHALL'], { stdio: 'ignore' }) // prettier-ignore
      },
    }
  }
}
