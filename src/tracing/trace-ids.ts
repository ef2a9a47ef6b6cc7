// The IDs of traces are derived from those of requests: every process knows the trace of a request from its ID alone, and no
// row has to carry it. So is whether a trace is recorded, so that a click, its confirmation and its postbacks are recorded
// on all nodes or on none. Callers choose neither: a request's ID is ours.
import { hash } from 'node:crypto'
import { hashNumber } from '../lib/hash-text.ts'

export type SpanIds = { traceId: string; spanId: string }

/** The trace of a request, and the span of the request itself. */
export function spanOfRequest(requestId: string): SpanIds {
  const digest = hash('sha256', requestId)
  return { traceId: digest.slice(0, 32), spanId: digest.slice(32, 48) }
}

const WHOLE = 2 ** 53

/** Whether what has this key is among the recorded ones. A larger ratio records the same ones, and more. */
export const isRecorded = (key: string, ratio: number): boolean => hashNumber(key) < ratio * WHOLE
