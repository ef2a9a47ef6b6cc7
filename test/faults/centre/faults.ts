// What happens to machines and processes. Each fault is drawn by a number, does its harm for a while, and mends it.
import { setTimeout as sleep } from 'node:timers/promises'
import type { Machine, Network, Service } from './network.ts'

/** From 0 to 1; the same for the same seed. */
export function createRandom(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let t = Math.imul(state ^ (state >>> 15), 1 | state)
    t ^= t + Math.imul(t ^ (t >>> 7), 61 | t)
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32
  }
}

type Harm = { name: string; happen: () => Promise<void> }

export class Faults {
  readonly #network: Network
  readonly #random: () => number
  /** What happened, and how often. */
  readonly counts = new Map<string, number>()

  constructor(network: Network, seed: number) {
    this.#network = network
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

  #draw(): Harm {
    const kinds = [() => this.#kill(), () => this.#kill(), () => this.#freeze(), () => this.#cut(), () => this.#crash()]
    return (this.#pick(kinds) ?? kinds[0]!)()
  }

  #pick = <T>(all: readonly T[]): T | undefined => all[Math.floor(this.#random() * all.length)]
  #between = (least: number, most: number) => least + this.#random() * (most - least)

  /** kill -9 of one process and what it has started. */
  #kill(): Harm {
    const service = this.#pick(this.#network.services) as Service
    return { name: `kill: ${service.name}`, happen: async () => service.signal('SIGKILL') }
  }

  #freeze(): Harm {
    const service = this.#pick(this.#network.services) as Service
    const ms = this.#between(500, 12_000)
    return {
      name: `freeze: ${service.name} for ${Math.round(ms)} ms`,
      happen: async () => {
        service.signal('SIGSTOP')
        await sleep(ms)
        service.signal('SIGCONT')
      },
    }
  }

  /** The cable of one machine. */
  #cut(): Harm {
    const machine = this.#pick(this.#network.machines) as Machine
    const ms = this.#between(500, 12_000)
    return {
      name: `cut: ${machine.name} for ${Math.round(ms)} ms`,
      happen: async () => {
        machine.cut()
        await sleep(ms)
        machine.mend()
      },
    }
  }

  /** The power of one machine: everything on it ends at once. */
  #crash(): Harm {
    const machine = this.#pick(this.#network.machines) as Machine
    return {
      name: `crash: ${machine.name}`,
      happen: async () => machine.crash(),
    }
  }
}
