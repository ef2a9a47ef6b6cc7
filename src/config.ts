// Configuration is read once, from the environment, into the shape its users want.
import { resolve } from 'node:path'
import ipaddr from 'ipaddr.js'
import { type Backups, type Exports, readBackups, readExports } from './config-parts/copies.ts'
import { type Observed, readMetrics, readTracing } from './config-parts/observed.ts'
import { readRetention, type Retention } from './config-parts/retention.ts'
import { OperatorError } from './errors.ts'
import { EnvReader } from './lib/env-reader.ts'
import { isLoopback, isNarrowCidr } from './lib/ip-ranges.ts'
import { readRedisAddress } from './lib/redis-address.ts'
import { IP_ADDRESSES, type IpAddresses } from './settings-data.ts'
import { LOG_LEVELS, type LogLevel } from './settings.ts'

export type Config = Backups &
  Exports &
  Observed & {
    production: boolean
    port: number
    host: string
    /** Scheme, host and port that the outside world uses, without a slash at the end. */
    publicUrl: string
    dataDir: string
    /** Null means: run the embedded PostgreSQL in `dataDir`. */
    databaseUrl: string | null
    /** A replica of it, for the dashboard's reads. */
    databaseReplicaUrl: string | null
    /** Whether statements are prepared once for each connection. */
    preparedStatements: boolean
    redisUrl: string | null
    tls: { certFile: string; keyFile: string } | null
    /** CIDRs of the proxies whose forwarding headers are believed. */
    trustProxy: string[]
    requireHttps: boolean
    /** Whether operators must have a second factor. */
    require2fa: boolean
    /** A MaxMind file that maps IP addresses to countries. */
    geoipDb: string | null
    /** The header in which a trusted proxy sends the visitor's country, in lower case. */
    countryHeader: string | null
    /** A file of suspicious IP addresses. */
    listedIps: string | null
    /** What is stored of users' IP addresses. */
    ipAddresses: IpAddresses
    /** How long what has no time of its own is kept. */
    retentionDays: number
    /** How many days each of them is kept. */
    retention: Retention
    /** CIDRs that postbacks may go to although they are not public, and those they may never go to. */
    postbackAllow: string[]
    postbackDeny: string[]
    /** A forward proxy that postbacks go through. */
    postbackProxy: string | null
    /** Where mail is handed over; null: no mail is sent. */
    smtpUrl: string | null
    mailFrom: string
    /** Where vulnerabilities are reported, as a URI. */
    securityContact: string | null
    /** How long a process goes on serving after SIGTERM. */
    drainSeconds: number
    /** How many API processes; 1: the API and the worker are one process. */
    processes: number | 'auto'
    logLevel: LogLevel
    demo: boolean
    /** Null: kept in `dataDir`, created at the first start. */
    secretKey: string | null
    /** The one that `secretKey` takes the place of. It only reads. */
    oldSecretKey: string | null
  }
/** Reads the environment; throws one `OperatorError` that names every problem. */
export function loadConfig(env: NodeJS.ProcessEnv): Config {
  const given = new EnvReader(env)
  const { problems } = given
  const production = env['NODE_ENV'] === 'production'
  const { port, host, tls, ownUrl } = readListening(given)
  const databaseUrl = given.url('DATABASE_URL', ['postgres', 'postgresql'])
  const databaseReplicaUrl = given.url('DATABASE_REPLICA_URL', ['postgres', 'postgresql'])
  if (databaseReplicaUrl !== null && databaseUrl === null)
    problems.push('DATABASE_REPLICA_URL needs DATABASE_URL: the embedded PostgreSQL has no replica.')
  const preparedStatements = given.onOrOff('PREPARED_STATEMENTS', true)
  const redisUrl = given.text('REDIS_URL')
  if (redisUrl !== null && readRedisAddress(redisUrl) === null)
    problems.push(
      'REDIS_URL must be redis://host:6379, redis+sentinel://host:26379,host:26379/name or redis+cluster://host:6379,host:6379 (rediss for encrypted connections).',
    )
  const requireHttps = given.onOrOff('REQUIRE_HTTPS', production)
  const require2fa = given.onOrOff('REQUIRE_2FA', production)
  const publicUrl = readPublicUrl(given, production, requireHttps) ?? ownUrl
  const { trustProxy, countryHeader } = readProxies(given)
  const ipAddresses = given.oneOf('IP_ADDRESSES', IP_ADDRESSES, 'full')
  const retentionDays = given.wholeNumber('RETENTION_DAYS', 90, 7, 9_999)
  const backups = readBackups(given, databaseUrl)
  const exports = readExports(given)
  const retention = readRetention(given, retentionDays)
  const postbackProxy = given.url('POSTBACK_PROXY', ['http'])
  const smtpUrl = given.url('SMTP_URL', ['smtp', 'smtps'])
  const postbackAllow = given.cidrs('POSTBACK_ALLOW')
  const postbackDeny = given.cidrs('POSTBACK_DENY')
  const mailFrom = given.text('MAIL_FROM') ?? `offerdeck@${URL.parse(publicUrl)?.hostname ?? 'localhost'}`
  if (!/^[^\s@<>]+@[^\s@<>]+$/.test(mailFrom)) problems.push('MAIL_FROM must be an email address.')
  const securityContact = readSecurityContact(given)
  const drainSeconds = given.wholeNumber('DRAIN_SECONDS', production ? 5 : 0, 0, 300)
  const processes = readProcesses(given)
  const logLevel = given.oneOf('LOG_LEVEL', LOG_LEVELS, 'info')
  const { metricsPort, metricsHost, metricsToken } = readMetrics(given, port)
  const tracing = readTracing(given)
  const { secretKey, oldSecretKey } = readSecretKeys(given)
  const demo = given.onOrOff('DEMO', databaseUrl === null && !production && isLoopback(host))
  if (demo && (databaseUrl !== null || production)) {
    problems.push(
      'DEMO works only with the embedded database and not in production: its credentials are printed at every start.',
    )
  }
  if (demo && !isLoopback(host)) {
    problems.push(
      `DEMO works only while HOST is an address of this machine, such as 127.0.0.1: its accounts are printed at every start, and ${host} can be reached from elsewhere. Set HOST=127.0.0.1 or DEMO=off.`,
    )
  }

  if (problems.length > 0) {
    throw new OperatorError(
      `The configuration has ${problems.length === 1 ? 'a problem' : `${problems.length} problems`}:\n${problems.map((p) => `  - ${p}`).join('\n')}`,
    )
  }
  return {
    production,
    port,
    host,
    publicUrl,
    dataDir: given.path('DATA_DIR') ?? resolve('./data'),
    databaseUrl,
    databaseReplicaUrl,
    preparedStatements,
    redisUrl,
    tls,
    trustProxy,
    requireHttps,
    require2fa,
    geoipDb: given.path('GEOIP_DB'),
    countryHeader,
    listedIps: given.path('LISTED_IPS'),
    ipAddresses,
    retentionDays,
    ...backups,
    ...exports,
    retention,
    postbackAllow,
    postbackDeny,
    postbackProxy,
    smtpUrl,
    mailFrom,
    securityContact,
    metricsPort,
    metricsHost,
    metricsToken,
    tracing,
    drainSeconds,
    processes,
    logLevel,
    demo,
    secretKey,
    oldSecretKey,
  }
}

/** `ownUrl` is the URL as this machine knows it. */
function readListening(given: EnvReader): Pick<Config, 'port' | 'host' | 'tls'> & { ownUrl: string } {
  const port = given.wholeNumber('PORT', 8080, 1, 65_535)
  const host = given.text('HOST') ?? '127.0.0.1'
  const isName = /^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$/i.test(host) && URL.canParse(`http://${host}`) // not a.0, for example
  const isHost = ipaddr.isValid(host) || isName
  if (!isHost) given.problems.push('HOST must be an address or a host name, such as 0.0.0.0.')
  const certFile = given.path('TLS_CERT')
  const keyFile = given.path('TLS_KEY')
  if ((certFile === null) !== (keyFile === null)) given.problems.push('TLS_CERT and TLS_KEY must be given together.')
  const tls = certFile !== null && keyFile !== null ? { certFile, keyFile } : null
  return { port, host, tls, ownUrl: isHost ? defaultUrl(host, port, tls !== null) : '' }
}

function defaultUrl(host: string, port: number, tls: boolean): string {
  const name = host === '0.0.0.0' || host === '::' ? 'localhost' : host.includes(':') ? `[${host}]` : host
  return new URL(`${tls ? 'https' : 'http'}://${name}:${port}`).origin
}

function readPublicUrl(given: EnvReader, production: boolean, requireHttps: boolean): string | null {
  const { problems } = given
  const url = given.url('PUBLIC_URL', ['http', 'https'])
  if (production && given.text('PUBLIC_URL') === null) {
    problems.push('PUBLIC_URL is required in production, such as https://offers.example.com.')
  }
  if (url !== null && (new URL(url).pathname !== '/' || /[?#@]/.test(url))) {
    problems.push('PUBLIC_URL must be scheme, host and port only, such as https://offers.example.com.')
  }
  if ((production || requireHttps) && url?.startsWith('http:')) {
    problems.push('PUBLIC_URL must start with https:// in production and while REQUIRE_HTTPS is on.')
  }
  return url === null ? null : new URL(url).origin
}

function readProxies(given: EnvReader): Pick<Config, 'trustProxy' | 'countryHeader'> {
  const { problems } = given
  const trustProxy = given.list('TRUST_PROXY')
  for (const cidr of trustProxy) {
    if (!isNarrowCidr(cidr)) {
      problems.push(
        `TRUST_PROXY has "${cidr}", which is not an address or a CIDR such as 10.0.0.0/8 (a range of everything is refused).`,
      )
    }
  }
  const countryHeader = given.text('COUNTRY_HEADER')?.toLowerCase() ?? null
  if (countryHeader !== null && !/^[a-z0-9-]+$/.test(countryHeader))
    problems.push('COUNTRY_HEADER must be the name of a header, such as CF-IPCountry.')
  if (countryHeader !== null && trustProxy.length === 0)
    problems.push('COUNTRY_HEADER needs TRUST_PROXY: only a proxy named there is believed.')
  return { trustProxy, countryHeader }
}

function readSecurityContact(given: EnvReader): string | null {
  const text = given.text('SECURITY_CONTACT')
  if (text === null) return null
  const uri = /^[^\s@<>:/]+@[^\s@<>:/]+$/.test(text) ? `mailto:${text}` : text
  if (/^(mailto|https|tel):[\x21-\x7e]+$/.test(uri) && URL.canParse(uri)) return uri
  given.problems.push('SECURITY_CONTACT must be an email address, or a URL that starts with https:// or tel:.')
  return null
}

export const MAX_PROCESSES = 64

const readProcesses = (given: EnvReader): Config['processes'] =>
  given.text('PROCESSES') === 'auto' ? 'auto' : given.wholeNumber('PROCESSES', 1, 1, MAX_PROCESSES)

function readSecretKeys(given: EnvReader): Pick<Config, 'secretKey' | 'oldSecretKey'> {
  const secretKey = given.text('SECRET_KEY')
  const oldSecretKey = given.text('SECRET_KEY_OLD')
  for (const [name, key] of Object.entries({ SECRET_KEY: secretKey, SECRET_KEY_OLD: oldSecretKey })) {
    if (key !== null && key.length < 32) given.problems.push(`${name} must have at least 32 characters.`)
    if (key !== null && /[\r\n]/.test(key)) given.problems.push(`${name} must be on one line.`)
  }
  if (oldSecretKey !== null && secretKey === null)
    given.problems.push('SECRET_KEY_OLD is the key that SECRET_KEY takes the place of: set SECRET_KEY, too.')
  if (oldSecretKey !== null && oldSecretKey === secretKey)
    given.problems.push('SECRET_KEY and SECRET_KEY_OLD are the same: leave out SECRET_KEY_OLD.')
  if (given.text('DATABASE_URL') !== null && secretKey === null) {
    given.problems.push(
      'SECRET_KEY is required with DATABASE_URL: "openssl rand -base64 48" makes one. Keep it; every node needs the same.',
    )
  }
  return { secretKey, oldSecretKey }
}
