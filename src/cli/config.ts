import { Command } from 'commander'
import { type Config, loadConfig } from '../config.ts'
import { SETTINGS } from '../settings.ts'
import { type OutputOptions, show, table } from './output.ts'
import { terminal } from './terminal.ts'

export const configCommand = () =>
  new Command('config').action((options: OutputOptions) => {
    const settings = describeConfig(loadConfig(terminal().env), terminal().env)
    show(options, settings, () =>
      table(
        settings.map(({ name, value, given }) => ({ setting: name, value, from: given ? 'environment' : 'default' })),
        '',
      ),
    )
  })

/** The settings as `offerdeck config` shows them: what is in force, with every secret masked. */
export function describeConfig(
  config: Config,
  env: NodeJS.ProcessEnv,
): { name: string; value: string; given: boolean }[] {
  const inForce: Record<string, string> = {
    PORT: String(config.port),
    HOST: config.host,
    PUBLIC_URL: config.publicUrl,
    DATA_DIR: config.dataDir,
    DATABASE_URL: config.databaseUrl === null ? '(embedded PostgreSQL)' : maskUrl(config.databaseUrl),
    DATABASE_REPLICA_URL: config.databaseReplicaUrl === null ? '(none)' : maskUrl(config.databaseReplicaUrl),
    PREPARED_STATEMENTS: config.preparedStatements ? 'on' : 'off',
    REDIS_URL: config.redisUrl === null ? '(none)' : maskUrl(config.redisUrl),
    TLS_CERT: config.tls?.certFile ?? '(none)',
    TLS_KEY: config.tls?.keyFile ?? '(none)',
    TRUST_PROXY: config.trustProxy.join(',') || '(none)',
    REQUIRE_HTTPS: config.requireHttps ? 'on' : 'off',
    REQUIRE_2FA: config.require2fa ? 'on' : 'off',
    GEOIP_DB: config.geoipDb ?? '(none)',
    COUNTRY_HEADER: config.countryHeader ?? '(none)',
    LISTED_IPS: config.listedIps ?? '(none)',
    IP_ADDRESSES: config.ipAddresses,
    RETENTION_DAYS: String(config.retentionDays),
    BACKUP_DIR: config.backupDir ?? '(none)',
    BACKUP_HOURS: String(config.backupHours),
    BACKUP_KEEP: String(config.backupKeep),
    BACKUP_PASSPHRASE: config.backupPassphrase === null ? '(none)' : '********',
    EXPORT_URL: config.exportUrl ?? '(none)',
    EXPORT_INTERVAL_SECONDS: String(config.exportIntervalSeconds),
    EXPORT_S3_ENDPOINT: config.exportS3Endpoint ?? '(none)',
    EXPORT_S3_REGION: config.exportS3Region,
    EXPORT_S3_ACCESS_KEY_ID: config.exportS3AccessKeyId ?? '(none)',
    EXPORT_S3_SECRET_ACCESS_KEY: config.exportS3SecretAccessKey === null ? '(none)' : '********',
    ...Object.fromEntries(
      Object.entries(config.retention).map(([kind, days]) => [`RETENTION_DAYS_${kind.toUpperCase()}`, String(days)]),
    ),
    POSTBACK_ALLOW: config.postbackAllow.join(',') || '(none)',
    POSTBACK_DENY: config.postbackDeny.join(',') || '(none)',
    POSTBACK_PROXY: config.postbackProxy === null ? '(none)' : maskUrl(config.postbackProxy),
    SMTP_URL: config.smtpUrl === null ? '(none)' : maskUrl(config.smtpUrl),
    MAIL_FROM: config.mailFrom,
    SECURITY_CONTACT: config.securityContact ?? '(none)',
    METRICS_PORT: config.metricsPort === null ? '(none)' : String(config.metricsPort),
    METRICS_HOST: config.metricsHost,
    METRICS_TOKEN: config.metricsToken === null ? '(none)' : '********',
    OTEL_EXPORTER_OTLP_ENDPOINT: config.tracing === null ? '(none)' : maskUrl(config.tracing.endpoint),
    OTEL_EXPORTER_OTLP_HEADERS: Object.keys(config.tracing?.headers ?? {}).length === 0 ? '(none)' : '********',
    OTEL_SERVICE_NAME: config.tracing?.serviceName ?? 'offerdeck',
    OTEL_TRACES_SAMPLER_ARG: config.tracing === null ? '(no traces)' : String(config.tracing.ratio),
    DRAIN_SECONDS: String(config.drainSeconds),
    PROCESSES: String(config.processes),
    LOG_LEVEL: config.logLevel,
    DEMO: config.demo ? 'on' : 'off',
    SECRET_KEY: config.secretKey === null ? '(stored in DATA_DIR)' : '********',
    SECRET_KEY_OLD: config.oldSecretKey === null ? '(none)' : '********',
  }
  return SETTINGS.map(({ name }) => ({ name, value: inForce[name] ?? '', given: Boolean(env[name]?.trim()) }))
}

/** A connection URL without its password or its parameters, either of which may carry a secret. It may name several hosts. */
const maskUrl = (text: string) =>
  text.replace(/^([\w+.-]+:\/\/[^:@/]*):[^/]*@/, '$1:********@').replace(/[?#].*/, '?********')
