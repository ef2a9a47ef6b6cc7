// The settings in effect. Of those that may hold a secret, only whether they are set.
import type { Config } from '../../../config.ts'
import { SETTINGS } from '../../../settings.ts'

export function presentSettings(config: Config): { name: string; value: string; about: string }[] {
  return SETTINGS.map(({ name, secret, about }) => {
    const value = valueOf(config, name)
    return { name, about, value: secret && value !== null ? 'set' : (value ?? 'not set') }
  })
}

/** SOME_NAME is someName in the configuration, but for the two files of TLS, the old key, the kinds of retention and OpenTelemetry's own names. */
function valueOf(config: Config, name: string): string | null {
  if (name === 'TLS_CERT') return config.tls?.certFile ?? null
  if (name === 'TLS_KEY') return config.tls?.keyFile ?? null
  if (name === 'SECRET_KEY_OLD') return config.oldSecretKey
  if (name.startsWith('OTEL_')) return tracingOf(config, name)
  const kind = /^RETENTION_DAYS_(\w+)$/.exec(name)?.[1]?.toLowerCase()
  if (kind !== undefined) return String(config.retention[kind as keyof Config['retention']])
  const key = name.toLowerCase().replaceAll(/_([a-z\d])/g, (_, letter: string) => letter.toUpperCase())
  const value: unknown = (config as Record<string, unknown>)[key]
  if (value === undefined) throw new Error(`No part of the configuration belongs to ${name}.`)
  if (value === null || (Array.isArray(value) && value.length === 0)) return null
  if (typeof value === 'boolean') return value ? 'on' : 'off'
  return Array.isArray(value) ? value.join(', ') : String(value)
}

function tracingOf({ tracing }: Config, name: string): string | null {
  if (tracing === null) return null
  const { endpoint, headers, serviceName, ratio } = tracing
  if (name === 'OTEL_EXPORTER_OTLP_ENDPOINT') return endpoint
  if (name === 'OTEL_EXPORTER_OTLP_HEADERS') return Object.keys(headers).join(', ') || null
  return name === 'OTEL_SERVICE_NAME' ? serviceName : String(ratio)
}
