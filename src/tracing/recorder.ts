// Spans as they are recorded: created when they end, from what is known then. They hold routes and IDs of ours, never a URL,
// a user or an IP address.
import { randomBytes } from 'node:crypto'
import { hostname } from 'node:os'
import { type Attributes, type Link, type SpanContext, type SpanKind, SpanStatusCode, TraceFlags } from '@opentelemetry/api' // prettier-ignore
import { resourceFromAttributes } from '@opentelemetry/resources'
import { VERSION } from '../lib/project.ts'
import type { SpanQueue } from './span-queue.ts'
import { isRecorded, type SpanIds, spanOfRequest } from './trace-ids.ts'

export type NewSpan = {
  name: string
  kind: SpanKind
  startedMs: number
  endedMs: number
  attributes: Attributes
  links?: Link[]
  /** What went wrong, in a word that is the same each time. */
  error?: string | null
}

/** A request that is under way. `flow`: the request of its click, once that is known. */
export type OpenRequest = { flow: string | null; links: Link[] }

export class Recorder {
  readonly #queue: SpanQueue
  readonly #ratio: number
  readonly #resource: ReturnType<typeof resourceFromAttributes>
  /** By their IDs, in this process. */
  readonly open = new Map<string, OpenRequest>()

  constructor(queue: SpanQueue, { serviceName, part, ratio }: { serviceName: string; part: string; ratio: number }) {
    this.#queue = queue
    this.#ratio = ratio
    this.#resource = resourceFromAttributes({
      'service.name': serviceName,
      'service.version': VERSION,
      'service.instance.id': `${hostname()}-${process.pid}`,
      'host.name': hostname(),
      'process.pid': process.pid,
      'offerdeck.part': part,
    })
  }

  /** What has a click is recorded with the click, so that all of a flow is, or nothing. */
  isRecorded(requestId: string, flow: string | null): boolean {
    return isRecorded(flow ?? requestId, this.#ratio)
  }

  /** The span of the request itself. */
  addRequest(requestId: string, span: NewSpan): void {
    this.#add(span, spanOfRequest(requestId))
  }

  /** A span below that of a request, which may have been answered by another process. */
  addBelow(requestId: string, span: NewSpan): void {
    const { traceId, spanId } = spanOfRequest(requestId)
    this.#add(span, { traceId, spanId: newSpanId() }, spanId)
  }

  /** In a trace of its own. */
  addAlone(span: NewSpan): void {
    this.#add(span, { traceId: randomBytes(16).toString('hex'), spanId: newSpanId() })
  }

  linkTo(requestId: string): Link {
    return { context: contextOf(spanOfRequest(requestId), isRecorded(requestId, this.#ratio)) }
  }

  #add(span: NewSpan, ids: SpanIds, parentSpanId?: string): void {
    const { name, kind, startedMs, endedMs, attributes, links = [], error = null } = span
    const duration = Math.max(0, endedMs - startedMs)
    this.#queue.add({
      name,
      kind,
      spanContext: () => contextOf(ids),
      ...(parentSpanId === undefined ? {} : { parentSpanContext: contextOf({ ...ids, spanId: parentSpanId }) }),
      startTime: hrTime(startedMs),
      endTime: hrTime(startedMs + duration),
      duration: hrTime(duration),
      status: { code: error === null ? SpanStatusCode.UNSET : SpanStatusCode.ERROR },
      attributes: error === null ? attributes : { ...attributes, 'error.type': error },
      links,
      events: [],
      ended: true,
      resource: this.#resource,
      instrumentationScope: { name: 'offerdeck', version: VERSION },
      droppedAttributesCount: 0,
      droppedEventsCount: 0,
      droppedLinksCount: 0,
    })
  }
}

export const contextOf = ({ traceId, spanId }: SpanIds, isSampled = true): SpanContext => ({
  traceId,
  spanId,
  traceFlags: isSampled ? TraceFlags.SAMPLED : TraceFlags.NONE,
})

export const nowMs = () => performance.timeOrigin + performance.now()

/** Nothing that is recorded may fail what it is recorded of: an error here is a span less. */
export function safely(record: () => void): void {
  try {
    record()
  } catch {
    // there is no one to tell
  }
}

/** PostgreSQL's code, or the name of the error. */
export const errorType = (error: unknown): string =>
  String((error as { code?: unknown }).code ?? (error instanceof Error ? error.name : 'error'))

const newSpanId = () => randomBytes(8).toString('hex')
const hrTime = (ms: number): [number, number] => [Math.floor(ms / 1_000), Math.round((ms % 1_000) * 1_000_000)]
