// Spans on their way to the collector. Nothing waits for it: spans are sent from a short queue, one batch at a time, and
// what does not fit is dropped and counted. A collector that hangs costs a connection for some seconds, and no more.
import { Agent as HttpAgent } from 'node:http'
import { Agent as HttpsAgent } from 'node:https'
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http'
import { messageOf } from '../errors.ts'
import { inTime } from '../lib/in-time.ts'

const MAX_QUEUED = 4_096
const BATCH = 256
const PAUSE_MS = 1_000
const SEND_MS = 5_000
const CLOSE_MS = 2_000

export type FinishedSpan = Parameters<OTLPTraceExporter['export']>[0][number]
/** Since the process began. dropped: there was no room; failed: the collector did not take them. */
export type SpanCounts = { exported: number; dropped: number; failed: number }

export type SpanQueueOptions = {
  url: string
  headers: Record<string, string>
  log: { warn(message: string): void; info(message: string): void }
}

export class SpanQueue {
  readonly counts: SpanCounts = { exported: 0, dropped: 0, failed: 0 }
  readonly #agent: HttpAgent
  readonly #exporter: OTLPTraceExporter
  readonly #log: SpanQueueOptions['log']
  readonly #spans: FinishedSpan[] = []
  #timer: NodeJS.Timeout | null = null
  #sending: Promise<void> | null = null
  #isFailing = false
  #isClosed = false

  constructor({ url, headers, log }: SpanQueueOptions) {
    this.#log = log
    this.#agent = new (url.startsWith('https:') ? HttpsAgent : HttpAgent)({ keepAlive: true, maxSockets: 1 })
    this.#exporter = new OTLPTraceExporter({
      url,
      headers,
      timeoutMillis: SEND_MS,
      httpAgentOptions: () => this.#agent,
    })
  }

  add(span: FinishedSpan): void {
    if (this.#isClosed || this.#spans.length >= MAX_QUEUED) return void this.counts.dropped++
    this.#spans.push(span)
    this.#sendSoon()
  }

  /** A full batch at once; unless the last one failed. */
  #sendSoon(): void {
    if (this.#spans.length >= BATCH && !this.#isFailing) void this.#sendAll()
    else this.#timer ??= setTimeout(() => void this.#sendAll(), PAUSE_MS).unref()
  }

  /** Sends what is queued, for a short time; the rest is dropped. */
  async close(): Promise<void> {
    this.#isClosed = true
    await inTime(this.#sendAll(), CLOSE_MS).catch(() => {}) // what is left is counted below
    this.counts.dropped += this.#spans.splice(0).length
    this.#agent.destroy()
    await inTime(this.#exporter.shutdown(), CLOSE_MS).catch(() => {}) // it has no connection any more
  }

  #sendAll(): Promise<void> {
    if (this.#timer !== null) clearTimeout(this.#timer)
    this.#sending ??= this.#drain().finally(() => {
      this.#sending = null
      this.#timer = null
      if (this.#spans.length > 0 && !this.#isClosed) this.#sendSoon()
    })
    return this.#sending
  }

  async #drain(): Promise<void> {
    while (this.#spans.length > 0) {
      const batch = this.#spans.splice(0, BATCH)
      try {
        await inTime(this.#export(batch), SEND_MS)
        this.counts.exported += batch.length
        if (this.#isFailing) this.#log.info('traces are exported again')
        this.#isFailing = false
      } catch (error) {
        this.counts.failed += batch.length
        this.#agent.destroy() // the exporter itself would wait for as long as some bytes come
        if (!this.#isFailing && !this.#isClosed) this.#log.warn(`traces cannot be exported (${messageOf(error)}); spans are dropped until they can`) // prettier-ignore
        this.#isFailing = true
        return
      }
    }
  }

  #export(batch: FinishedSpan[]): Promise<void> {
    return new Promise((done, failed) =>
      this.#exporter.export(batch, ({ error }) => (error === undefined ? done() : failed(error))),
    )
  }
}
