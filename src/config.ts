// Configuration is read once, from the environment, into the shape its users want. `SETTINGS` is the one list:
// the parser, `offerdeck config` and docs/configuration.md all come from it.
import { resolve } from 'node:path'
import ipaddr from 'ipaddr.js'
import { OperatorError } from './errors.ts'
import { isNarrowCidr, parseRanges } from './lib/ip-ranges.ts'

export const LOG_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const
export type LogLevel = (typeof LOG_LEVELS)[number]

export type Config = {
  production: boolean
  port: number
  host: string
  /** Scheme, host and port that the outside world uses, without a slash at the end. */
  publicUrl: string
  dataDir: string
  /** Null means: run the embedded PostgreSQL in `dataDir`. */
  databaseUrl: string | null
  redisUrl: string | null
  tls: { certFile: string; keyFile: string } | null
  /** CIDRs of the proxies whose forwarding headers are believed. */
  trustProxy: string[]
  requireHttps: boolean
  /** A MaxMind file that tells countries by address. */
  geoipDb: string | null
  /** The header in which a trusted proxy tells the visitor's country, in lower case. */
  countryHeader: string | null
  /** A file of addresses that are suspected. */
  listedIps: string | null
  /** How long clicks and advertisers' calls are kept, at least. */
  retentionDays: number
  /** CIDRs that postbacks may go to although they are not public, and those they may never go to. */
  postbackAllow: string[]
  postbackDeny: string[]
  /** A forward proxy that postbacks go through. */
  postbackProxy: string | null
  /** Where mail is handed over; null: no mail is sent. */
  smtpUrl: string | null
  mailFrom: string
  logLevel: LogLevel
  demo: boolean
  /** Null means: kept in `dataDir`, made at the first start. */
  secretKey: string | null
}

type Setting = { name: string; fallback: string; about: string; secret?: true }

export const SETTINGS: readonly Setting[] = [
  { name: 'PORT', fallback: '8080', about: 'Port to listen on.' },
  {
    name: 'HOST',
    fallback: '127.0.0.1',
    about: 'Address to listen on. `0.0.0.0` or `::` makes the server reachable from other machines.',
  },
  {
    name: 'PUBLIC_URL',
    fallback: 'from `HOST` and `PORT`',
    about:
      'Where the outside world reaches this server, such as `https://offers.example.com`: scheme, host and port, no path. ' +
      'Links are built from it, never from the `Host` header. Required in production, and then `https`.',
  },
  {
    name: 'DATA_DIR',
    fallback: './data',
    about: 'Folder for the embedded database, the secret key made for it, and the spool.',
  },
  {
    name: 'DATABASE_URL',
    fallback: 'embedded PostgreSQL',
    about:
      'A PostgreSQL 14 or later to use instead of the embedded one: `postgres://user:password@host:5432/name`. ' +
      'Behind PgBouncer: version 1.21 or later, with `max_prepared_statements` above 0.',
    secret: true,
  },
  {
    name: 'REDIS_URL',
    fallback: 'none',
    about:
      'A Redis that shares the rate limits between processes: `redis://host:6379`. Without it each process counts alone.',
    secret: true,
  },
  {
    name: 'TLS_CERT',
    fallback: 'none',
    about: 'File with the certificate chain (PEM). Together with `TLS_KEY`, serves HTTPS.',
  },
  { name: 'TLS_KEY', fallback: 'none', about: 'File with the private key (PEM).' },
  {
    name: 'TRUST_PROXY',
    fallback: 'none',
    about:
      'Addresses of the reverse proxies in front, as CIDRs separated by commas, such as `10.0.0.0/8,127.0.0.1`. ' +
      'Only they may say who the client is and that it came by HTTPS.',
  },
  {
    name: 'REQUIRE_HTTPS',
    fallback: 'on when `NODE_ENV=production`, else off',
    about: '`on` or `off`. When on, plain HTTP gets status 400 instead of an answer.',
  },
  {
    name: 'GEOIP_DB',
    fallback: 'none',
    about:
      'A country or city file in MaxMind format (`.mmdb`), to tell where a click comes from. Read again when it changes.',
  },
  {
    name: 'COUNTRY_HEADER',
    fallback: 'none',
    about:
      "The header in which a proxy of `TRUST_PROXY` tells the visitor's country, such as `CF-IPCountry`. It goes before `GEOIP_DB`.",
  },
  {
    name: 'LISTED_IPS',
    fallback: 'none',
    about:
      'A file of suspected addresses, such as those of data centres: one address or CIDR a line, `#` begins a comment. ' +
      'Clicks from there get the fraud signal `listed_ip`. Read again when it changes.',
  },
  {
    name: 'RETENTION_DAYS',
    fallback: '90',
    about:
      "How many days clicks and the log of advertisers' calls are kept. Clicks are kept longer where an offer's attribution " +
      'window and hold need them. Conversions, their history and the ledger are kept for good.',
  },
  {
    name: 'POSTBACK_ALLOW',
    fallback: 'none',
    about:
      'Addresses that postbacks may go to although they are not public, as CIDRs separated by commas, such as `10.1.0.0/16`. ' +
      'Without it only public addresses are reached, so that nobody can look into your network.',
  },
  {
    name: 'POSTBACK_DENY',
    fallback: 'none',
    about: 'Addresses that postbacks may never go to, as CIDRs separated by commas. It goes before `POSTBACK_ALLOW`.',
  },
  {
    name: 'POSTBACK_PROXY',
    fallback: 'none',
    about: 'A forward proxy for postbacks: `http://user:password@host:3128`. It must allow `CONNECT`.',
    secret: true,
  },
  {
    name: 'SMTP_URL',
    fallback: 'none',
    about:
      'A mail server for notices, such as that postbacks to an address are paused: `smtp://user:password@host:587`. ' +
      'Without it notices are only listed.',
    secret: true,
  },
  {
    name: 'MAIL_FROM',
    fallback: '`offerdeck@` and the host of `PUBLIC_URL`',
    about: 'The sender of mails.',
  },
  { name: 'LOG_LEVEL', fallback: 'info', about: `One of ${LOG_LEVELS.map((level) => `\`${level}\``).join(', ')}.` },
  {
    name: 'DEMO',
    fallback: 'on for the embedded database, off in production',
    about:
      '`on` or `off`. When on, the first start fills an empty database with offers and an app to try things out with.',
  },
  {
    name: 'SECRET_KEY',
    fallback: 'made and kept in `DATA_DIR`',
    about:
      'Signs link tokens, peppers the stored secrets and encrypts signing secrets: at least 32 characters, the same on ' +
      'every node, never changed. Required with `DATABASE_URL`. `openssl rand -base64 48` makes one.',
    secret: true,
  },
]

/** Reads the environment; throws one `OperatorError` that names every problem. */
export function loadConfig(env: NodeJS.ProcessEnv): Config {
  const problems: string[] = []
  const read = (name: string) => env[name]?.trim() || null
  const fault = <T>(fallback: T, problem: string): T => {
    problems.push(problem)
    return fallback
  }
  const readSwitch = (name: string, fallback: boolean): boolean => {
    const text = read(name)?.toLowerCase()
    if (text === undefined) return fallback
    if (['on', 'true', '1', 'yes'].includes(text)) return true
    if (['off', 'false', '0', 'no'].includes(text)) return false
    return fault(fallback, `${name} must be "on" or "off".`)
  }
  const readUrl = (name: string, schemes: string[]): string | null => {
    const text = read(name)
    if (text === null) return null
    const scheme = URL.canParse(text) ? new URL(text).protocol.slice(0, -1) : ''
    if (schemes.includes(scheme)) return text
    return fault(null, `${name} must be a URL that starts with ${schemes.map((s) => `${s}://`).join(' or ')}.`)
  }

  const production = env['NODE_ENV'] === 'production'
  const port = readPort(read('PORT') ?? '8080') ?? fault(8080, 'PORT must be a whole number from 1 to 65535.')
  const host = read('HOST') ?? '127.0.0.1'
  if (!isHost(host)) problems.push('HOST must be an address or a host name, such as 0.0.0.0.')
  const certFile = read('TLS_CERT')
  const keyFile = read('TLS_KEY')
  if ((certFile === null) !== (keyFile === null)) problems.push('TLS_CERT and TLS_KEY must be given together.')
  const tls = certFile !== null && keyFile !== null ? { certFile: resolve(certFile), keyFile: resolve(keyFile) } : null
  const databaseUrl = readUrl('DATABASE_URL', ['postgres', 'postgresql'])
  const redisUrl = readUrl('REDIS_URL', ['redis', 'rediss'])
  const requireHttps = readSwitch('REQUIRE_HTTPS', production)

  const givenUrl = readUrl('PUBLIC_URL', ['http', 'https'])
  if (production && read('PUBLIC_URL') === null) {
    problems.push('PUBLIC_URL is required in production, such as https://offers.example.com.')
  }
  if (givenUrl !== null && (new URL(givenUrl).pathname !== '/' || /[?#@]/.test(givenUrl))) {
    problems.push('PUBLIC_URL must be scheme, host and port only, such as https://offers.example.com.')
  }
  if ((production || requireHttps) && givenUrl?.startsWith('http:')) {
    problems.push('PUBLIC_URL must start with https:// in production and while REQUIRE_HTTPS is on.')
  }

  const trustProxy = splitList(read('TRUST_PROXY'))
  for (const cidr of trustProxy) {
    if (!isNarrowCidr(cidr)) {
      problems.push(
        `TRUST_PROXY has "${cidr}", which is not an address or a CIDR such as 10.0.0.0/8 (a range of everything is refused).`,
      )
    }
  }

  const countryHeader = read('COUNTRY_HEADER')?.toLowerCase() ?? null
  if (countryHeader !== null && !/^[a-z0-9-]+$/.test(countryHeader))
    problems.push('COUNTRY_HEADER must be the name of a header, such as CF-IPCountry.')
  if (countryHeader !== null && trustProxy.length === 0)
    problems.push('COUNTRY_HEADER needs TRUST_PROXY: only a proxy named there is believed.')
  const retention = read('RETENTION_DAYS') ?? '90'
  const retentionDays = /^\d{1,4}$/.test(retention) && Number(retention) >= 7 ? Number(retention) : 0
  if (retentionDays === 0) problems.push('RETENTION_DAYS must be a whole number from 7 to 9999.')
  const readPath = (name: string) => {
    const path = read(name)
    return path === null ? null : resolve(path)
  }

  const postbackProxy = readUrl('POSTBACK_PROXY', ['http'])
  const smtpUrl = readUrl('SMTP_URL', ['smtp', 'smtps'])
  const readCidrs = (name: string) => {
    const { ranges, problems: bad } = parseRanges(splitList(read(name)).join('\n'))
    if (bad.length > 0)
      problems.push(`${name} must be addresses or CIDRs such as 10.0.0.0/8, separated by commas. ${bad.join(' ')}`)
    return ranges.isEmpty ? [] : splitList(read(name))
  }
  const postbackAllow = readCidrs('POSTBACK_ALLOW')
  const postbackDeny = readCidrs('POSTBACK_DENY')
  const ownUrl = isHost(host) ? defaultUrl(host, port, tls !== null) : ''
  const publicUrl = givenUrl === null ? ownUrl : new URL(givenUrl).origin
  const mailFrom = read('MAIL_FROM') ?? `offerdeck@${URL.parse(publicUrl)?.hostname ?? 'localhost'}`
  if (!/^[^\s@<>]+@[^\s@<>]+$/.test(mailFrom)) problems.push('MAIL_FROM must be an e-mail address.')

  const level = read('LOG_LEVEL') ?? 'info'
  const logLevel =
    LOG_LEVELS.find((known) => known === level) ??
    fault('info' as const, `LOG_LEVEL must be one of ${LOG_LEVELS.join(', ')}.`)

  const secretKey = read('SECRET_KEY')
  if (secretKey !== null && secretKey.length < 32) problems.push('SECRET_KEY must have at least 32 characters.')
  if (read('DATABASE_URL') !== null && secretKey === null) {
    problems.push(
      'SECRET_KEY is required with DATABASE_URL: "openssl rand -base64 48" makes one. Keep it; every node needs the same.',
    )
  }

  const demo = readSwitch('DEMO', databaseUrl === null && !production)
  if (demo && (databaseUrl !== null || production)) {
    problems.push(
      'DEMO works only with the embedded database and not in production: its credentials are printed at every start.',
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
    dataDir: resolve(read('DATA_DIR') ?? './data'),
    databaseUrl,
    redisUrl,
    tls,
    trustProxy,
    requireHttps,
    geoipDb: readPath('GEOIP_DB'),
    countryHeader,
    listedIps: readPath('LISTED_IPS'),
    retentionDays,
    postbackAllow,
    postbackDeny,
    postbackProxy,
    smtpUrl,
    mailFrom,
    logLevel,
    demo,
    secretKey,
  }
}

const splitList = (text: string | null): string[] =>
  (text ?? '')
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '')

function readPort(text: string): number | null {
  const port = /^\d{1,5}$/.test(text) ? Number(text) : 0
  return port >= 1 && port <= 65_535 ? port : null
}

function isHost(text: string): boolean {
  return ipaddr.isValid(text) || /^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$/i.test(text)
}

function defaultUrl(host: string, port: number, tls: boolean): string {
  const name = host === '0.0.0.0' || host === '::' ? 'localhost' : host.includes(':') ? `[${host}]` : host
  return new URL(`${tls ? 'https' : 'http'}://${name}:${port}`).origin
}

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
    REDIS_URL: config.redisUrl === null ? '(none)' : maskUrl(config.redisUrl),
    TLS_CERT: config.tls?.certFile ?? '(none)',
    TLS_KEY: config.tls?.keyFile ?? '(none)',
    TRUST_PROXY: config.trustProxy.join(',') || '(none)',
    REQUIRE_HTTPS: config.requireHttps ? 'on' : 'off',
    GEOIP_DB: config.geoipDb ?? '(none)',
    COUNTRY_HEADER: config.countryHeader ?? '(none)',
    LISTED_IPS: config.listedIps ?? '(none)',
    RETENTION_DAYS: String(config.retentionDays),
    POSTBACK_ALLOW: config.postbackAllow.join(',') || '(none)',
    POSTBACK_DENY: config.postbackDeny.join(',') || '(none)',
    POSTBACK_PROXY: config.postbackProxy === null ? '(none)' : maskUrl(config.postbackProxy),
    SMTP_URL: config.smtpUrl === null ? '(none)' : maskUrl(config.smtpUrl),
    MAIL_FROM: config.mailFrom,
    LOG_LEVEL: config.logLevel,
    DEMO: config.demo ? 'on' : 'off',
    SECRET_KEY: config.secretKey === null ? '(kept in DATA_DIR)' : '********',
  }
  return SETTINGS.map(({ name }) => ({ name, value: inForce[name] ?? '', given: Boolean(env[name]?.trim()) }))
}

/** A connection URL without its password or its parameters, either of which may carry a secret. */
function maskUrl(text: string): string {
  const url = new URL(text)
  const user = url.username === '' ? '' : `${url.username}${url.password === '' ? '' : ':********'}@`
  return `${url.protocol}//${user}${url.host}${url.pathname}${url.search === '' ? '' : '?********'}`
}
