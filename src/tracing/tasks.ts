// Spans of what runs by itself: background loops, and runs of feeds.
import { SpanKind } from '@opentelemetry/api'
import type { TraceFeedRun } from '../features/feeds/run.ts'
import type { Loop } from '../loop.ts'
import { errorType, nowMs, type Recorder } from './recorder.ts'

/** Most runs find nothing to do, five times a second: one that took less is not worth a span, unless it failed. */
const LOOP_MS = 100

export function traceLoop(recorder: Recorder, loop: Loop): void {
  loop.onRun = ({ tookMs, error }) => {
    if (error === null && tookMs < LOOP_MS) return
    const endedMs = nowMs()
    recorder.addAlone({
      name: loop.name,
      kind: SpanKind.INTERNAL,
      startedMs: endedMs - tookMs,
      endedMs,
      attributes: { 'offerdeck.task': loop.name },
      error: error === null ? null : errorType(error),
    })
  }
}

export const createFeedTracer =
  (recorder: Recorder): TraceFeedRun =>
  async ({ feedId, runId, isPreview }, run) => {
    const startedMs = nowMs()
    const record = (outcome: string) =>
      recorder.addAlone({
        name: 'feed run',
        kind: SpanKind.INTERNAL,
        startedMs,
        endedMs: nowMs(),
        attributes: {
          'offerdeck.feed_id': feedId,
          'offerdeck.feed_run_id': runId,
          'offerdeck.is_preview': isPreview,
          'offerdeck.outcome': outcome,
        },
        error: outcome === 'failed' ? 'failed' : null,
      })
    try {
      record((await run()) ?? 'taken over')
    } catch (error) {
      record('failed')
      throw error
    }
  }
