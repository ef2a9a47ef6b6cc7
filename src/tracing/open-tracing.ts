// Traces for OpenTelemetry, over OTLP. Loaded only where OTEL_EXPORTER_OTLP_ENDPOINT is set.
//
// Each request has a trace of its own, whose ID follows from that of the request (trace-ids.ts): the request, what it
// committed, and the postbacks that came of it, whichever node sends them and however late. The traces of one flow are
// linked: a click to the list that its link was in; a confirmation or report, and its postbacks, to the click.
//
// No provider is registered with OpenTelemetry's API: libraries that look for one there would send what we do not know.
import type { FastifyBaseLogger, FastifyInstance } from 'fastify'
import type { Config } from '../config.ts'
import type { TraceBatch } from '../db/batch-writer.ts'
import type { TraceFeedRun } from '../features/feeds/run.ts'
import type { AttemptEnd } from '../features/postbacks/deliverer.ts'
import type { Loop } from '../loop.ts'
import { traceAttempt } from './attempts.ts'
import { createBatchTracer } from './batches.ts'
import { Recorder, safely } from './recorder.ts'
import { traceRequests } from './requests.ts'
import { type SpanCounts, SpanQueue } from './span-queue.ts'
import { createFeedTracer, traceLoop } from './tasks.ts'

export type Tracing = {
  /** Before there are routes. */
  addApi: (server: FastifyInstance) => void
  traceBatch: TraceBatch
  traceLoops: (loops: readonly Loop[]) => void
  traceAttempt: (attempt: AttemptEnd) => void
  traceFeedRun: TraceFeedRun
  counts: () => SpanCounts
  close: () => Promise<void>
}

/** `part`: what this process runs. */
export function openTracing(
  { endpoint, headers, ...settings }: NonNullable<Config['tracing']>,
  part: string,
  log: FastifyBaseLogger,
): Tracing {
  const queue = new SpanQueue({ url: `${endpoint}/v1/traces`, headers, log })
  const recorder = new Recorder(queue, { ...settings, part })
  return {
    addApi: (server) => traceRequests(server, recorder),
    traceBatch: createBatchTracer(recorder),
    traceLoops: (loops) => loops.forEach((loop) => traceLoop(recorder, loop)),
    traceAttempt: (attempt) => safely(() => traceAttempt(recorder, attempt)),
    traceFeedRun: createFeedTracer(recorder),
    counts: () => queue.counts,
    close: () => queue.close(),
  }
}
