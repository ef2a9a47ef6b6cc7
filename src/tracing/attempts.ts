// A span for each attempt to send a postback, in the trace of the request that caused its event.
import { type Attributes, SpanKind } from '@opentelemetry/api'
import type { AttemptEnd } from '../features/postbacks/deliverer.ts'
import type { SendRequest } from '../features/postbacks/sender.ts'
import { clickRequest } from '../http/request-ids.ts'
import { nowMs, type Recorder } from './recorder.ts'

export function traceAttempt(recorder: Recorder, { finished, content, sent }: AttemptEnd): void {
  const { claimed, durationMs, ok, status, phase } = finished
  const requestId = String(content?.macros.request_id ?? '') || null
  const flow = content?.clickId == null ? null : clickRequest(content.clickId)
  const key = requestId ?? `event_${claimed.postback_id}` // what no request caused
  if (!recorder.isRecorded(key, flow)) return
  const endedMs = nowMs()
  recorder.addBelow(key, {
    name: sent === null ? 'postback' : `postback ${sent.method}`,
    kind: SpanKind.CLIENT,
    startedMs: endedMs - durationMs,
    endedMs,
    attributes: {
      ...(sent !== null && targetOf(sent)),
      ...(status !== null && { 'http.response.status_code': status }),
      'http.request.resend_count': claimed.attempts - 1,
      'offerdeck.postback_id': claimed.postback_id,
      'offerdeck.app_id': claimed.app_id,
      ...(requestId !== null && { 'offerdeck.request_id': requestId }),
    },
    links: flow === null ? [] : [recorder.linkTo(flow)],
    error: ok ? null : status === null ? (phase ?? 'unsent') : String(status),
  })
}

/** The host alone: the rest of the URL has users and secrets in it. */
function targetOf({ method, url }: SendRequest): Attributes {
  const { hostname, port, protocol } = new URL(url)
  return {
    'http.request.method': method,
    'server.address': hostname,
    'server.port': Number(port) || (protocol === 'https:' ? 443 : 80),
  }
}
