// What the supervisor and the processes that it started say to each other.
import type { MetricObject } from 'prom-client'
import type { DemoSite } from '../../demo/site.ts'
import type { Take, Taken } from '../../http/shared-limit.ts'

export type Part = 'api' | 'worker'

export type ToProcess =
  | { kind: 'start'; part: Part; name: string; demoSite: DemoSite | null }
  /** drains: an API goes on serving for a while. */
  | { kind: 'stop'; drains: boolean }
  /** Drain no longer. */
  | { kind: 'hurry' }
  | { kind: 'ping' }
  | { kind: 'collect'; id: number }
  | { kind: 'taken'; id: number; taken: Taken[] }
  | { kind: 'figures'; id: number; text: string }

export type FromProcess =
  | { kind: 'ready' }
  | { kind: 'started' }
  | { kind: 'pong' }
  /** It could not start. isExplained: the message is for the operator, as it is. */
  | { kind: 'failed'; message: string; isExplained: boolean }
  | { kind: 'collected'; id: number; metrics: MetricObject[] }
  | { kind: 'take'; id: number; takes: Take[] }
  | { kind: 'askFigures'; id: number }

/** Questions that the other side answers by their number. */
export class Questions<Answer extends { id: number }> {
  readonly #waiting = new Map<number, PromiseWithResolvers<Answer>>()
  #id = 0

  ask(send: (id: number) => void): Promise<Answer> {
    const id = this.#id++
    const asked = Promise.withResolvers<Answer>()
    this.#waiting.set(id, asked)
    try {
      send(id)
    } catch (error) {
      this.#waiting.delete(id)
      asked.reject(error)
    }
    return asked.promise
  }

  answered(answer: Answer): void {
    this.#waiting.get(answer.id)?.resolve(answer)
    this.#waiting.delete(answer.id)
  }

  /** No answer will come any more. */
  abandon(): void {
    for (const { reject } of this.#waiting.values()) reject(new Error('The other process is gone.'))
    this.#waiting.clear()
  }
}
