// How the program is observed: figures for Prometheus, traces for OpenTelemetry.
import type { EnvReader } from '../lib/env-reader.ts'

export type Observed = {
  /** Where Prometheus may read: at a port of its own, at the API's with a token, or at both; nowhere by default. */
  metricsPort: number | null
  metricsHost: string
  metricsToken: string | null
  /** Where traces go, and which part of them is recorded; null: there are none. */
  tracing: { endpoint: string; headers: Record<string, string>; serviceName: string; ratio: number } | null
}

export function readMetrics(given: EnvReader, apiPort: number): Omit<Observed, 'tracing'> {
  const metricsPort = given.text('METRICS_PORT') === null ? null : given.wholeNumber('METRICS_PORT', 9464, 1, 65_535)
  const metricsToken = given.text('METRICS_TOKEN')
  if (metricsPort === apiPort) given.problems.push('METRICS_PORT must differ from PORT.')
  if (metricsToken !== null && metricsToken.length < 16)
    given.problems.push('METRICS_TOKEN must have at least 16 characters.')
  return { metricsPort, metricsHost: given.text('METRICS_HOST') ?? '127.0.0.1', metricsToken }
}

export function readTracing(given: EnvReader): Observed['tracing'] {
  const endpoint = given.url('OTEL_EXPORTER_OTLP_ENDPOINT', ['http', 'https'])
  if (endpoint !== null && /[?#]/.test(endpoint))
    given.problems.push(
      'OTEL_EXPORTER_OTLP_ENDPOINT must have no query: send what is secret in OTEL_EXPORTER_OTLP_HEADERS.',
    )
  const headers = readHeaders(given, 'OTEL_EXPORTER_OTLP_HEADERS')
  const text = given.text('OTEL_TRACES_SAMPLER_ARG') ?? '0.1'
  const ratio = /^\d*\.?\d+$/.test(text) ? Number(text) : NaN
  if (!(ratio <= 1)) given.problems.push('OTEL_TRACES_SAMPLER_ARG must be a number from 0 to 1, such as 0.1.')
  const serviceName = given.text('OTEL_SERVICE_NAME') ?? 'offerdeck'
  return endpoint === null ? null : { endpoint: endpoint.replace(/\/+$/, ''), headers, serviceName, ratio }
}

/** As in name=value,name=value, percent-encoded. */
function readHeaders(given: EnvReader, name: string): Record<string, string> {
  const headers: Record<string, string> = {}
  for (const pair of given.list(name)) {
    const [, key = '', value = ''] = /^([\w!#$%&'*+.^`|~-]+)\s*=\s*([\x21-\x7e]*)$/.exec(pair) ?? []
    const decoded = decode(value)
    if (key !== '' && decoded !== null) headers[key.toLowerCase()] = decoded
    else given.problems.push(`${name} must be name=value pairs separated by commas, percent-encoded.`)
  }
  return headers
}

function decode(text: string): string | null {
  try {
    return decodeURIComponent(text)
  } catch {
    return null // such as 100%
  }
}
