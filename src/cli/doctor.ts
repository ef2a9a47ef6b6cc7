// Tries out what the program needs, and says what to do about what does not work.
import { X509Certificate } from 'node:crypto'
import { accessSync, constants, readFileSync } from 'node:fs'
import { createSecureContext } from 'node:tls'
import { Command } from 'commander'
import { createClient } from 'redis'
import { type Config, loadConfig } from '../config.ts'
import { makeDataDir } from '../db/embedded.ts'
import { listMigrations, pendingMigrations } from '../db/migrate.ts'
import { type Database, openDatabase } from '../db/open.ts'
import { messageOf } from '../errors.ts'
import { hasSecretKey } from './context.ts'
import { type OutputOptions, show } from './output.ts'

const MAX_CLOCK_DIFFERENCE_MS = 2_000
const EXPIRY_WARNING_DAYS = 14

type Finding = { check: string; ok: boolean; result: string; advice?: string }

export const doctorCommand = () =>
  new Command('doctor')
    .description('check database, Redis, clock, TLS and folders, and say what to do')
    .action(async (options: OutputOptions) => {
      const config = loadConfig(process.env)
      const findings = [
        checkFolder(config),
        ...(await checkDatabase(config)),
        await checkRedis(config),
        checkTls(config),
      ]
      show(options, { ok: findings.every(({ ok }) => ok), findings }, () => findings.map(describe).join('\n'))
      if (findings.some(({ ok }) => !ok)) process.exitCode = 1
    })

function describe({ check, ok, result, advice }: Finding): string {
  const line = `${ok ? 'ok  ' : 'FAIL'}  ${check.padEnd(9)} ${result}`
  return ok || advice === undefined ? line : `${line}\n      → ${advice}`
}

function checkFolder(config: Config): Finding {
  const check = 'folder'
  try {
    makeDataDir(config.dataDir)
    accessSync(config.dataDir, constants.W_OK | constants.R_OK | constants.X_OK)
  } catch (error) {
    return {
      check,
      ok: false,
      result: messageOf(error),
      advice: `Give this user the right to write to ${config.dataDir}, or set DATA_DIR to another folder.`,
    }
  }
  const key = hasSecretKey(config) ? 'the secret key is there' : 'the secret key is made at the first start'
  return { check, ok: true, result: `${config.dataDir} can be written to; ${key}` }
}

async function checkDatabase(config: Config): Promise<Finding[]> {
  let database: Database | null = null
  try {
    database = await openDatabase({ ...config, connections: 1 })
    const startedMs = Date.now()
    const { rows } = await database.pool.query<{ version: string; now: Date }>(
      "SELECT current_setting('server_version') AS version, clock_timestamp() AS now",
    )
    const tookMs = Date.now() - startedMs
    const where = database.embeddedIn === null ? 'DATABASE_URL' : `embedded, in ${database.embeddedIn}`
    return [
      { check: 'database', ok: true, result: `PostgreSQL ${rows[0]?.version} answers (${where})` },
      await checkSchema(database),
      checkClock(rows[0]?.now ?? new Date(), startedMs + tookMs / 2),
    ]
  } catch (error) {
    const advice =
      config.databaseUrl === null
        ? 'See the log it names; "npm ci" installs its binaries.'
        : 'Check that the server runs, that DATABASE_URL is right, and that its user may connect.'
    return [{ check: 'database', ok: false, result: messageOf(error) || 'does not answer', advice }]
  } finally {
    await database?.close()
  }
}

async function checkSchema(database: Database): Promise<Finding> {
  const check = 'schema'
  try {
    const pending = await pendingMigrations(database)
    const version = listMigrations().at(-1)?.name.replace('.sql', '')
    if (pending.length === 0) return { check, ok: true, result: `up to date (${version})` }
    return {
      check,
      ok: false,
      result: `${pending.length} migrations are to be applied`,
      advice: 'Run: offerdeck migrate (or start the server, which does it by itself).',
    }
  } catch (error) {
    return { check, ok: false, result: messageOf(error) }
  }
}

function checkClock(databaseTime: Date, localMs: number): Finding {
  const differenceMs = Math.abs(databaseTime.getTime() - localMs)
  if (differenceMs <= MAX_CLOCK_DIFFERENCE_MS) return { check: 'clock', ok: true, result: 'agrees with the database' }
  return {
    check: 'clock',
    ok: false,
    result: `differs from the database's by ${Math.round(differenceMs / 1000)} s`,
    advice: 'Run a time service such as chrony on both machines.',
  }
}

async function checkRedis(config: Config): Promise<Finding> {
  const check = 'redis'
  if (config.redisUrl === null) return { check, ok: true, result: 'not used: every process counts its own requests' }
  const client = createClient({ url: config.redisUrl, socket: { connectTimeout: 2_000, reconnectStrategy: false } })
  client.on('error', () => {}) // the failed connect tells
  try {
    await client.connect()
    await client.ping()
    return { check, ok: true, result: 'answers' }
  } catch (error) {
    return {
      check,
      ok: false,
      result: messageOf(error),
      advice: 'Check that Redis runs and that REDIS_URL is right. Meanwhile each process counts its own requests.',
    }
  } finally {
    if (client.isOpen) client.destroy()
  }
}

function checkTls({ tls, requireHttps, trustProxy }: Config): Finding {
  const check = 'tls'
  if (tls === null) {
    if (!requireHttps) return { check, ok: true, result: 'not used: plain HTTP is answered (REQUIRE_HTTPS is off)' }
    if (trustProxy.length > 0) return { check, ok: true, result: `left to the proxies at ${trustProxy.join(', ')}` }
    return {
      check,
      ok: false,
      result: 'HTTPS is required, but nothing provides it',
      advice: 'Set TLS_CERT and TLS_KEY, or TRUST_PROXY to the address of the proxy that does.',
    }
  }
  try {
    const cert = readFileSync(tls.certFile)
    createSecureContext({ cert, key: readFileSync(tls.keyFile) })
    const { validTo } = new X509Certificate(cert)
    const daysLeft = Math.floor((Date.parse(validTo) - Date.now()) / 86_400_000)
    const ok = daysLeft >= EXPIRY_WARNING_DAYS
    return {
      check,
      ok,
      result: daysLeft < 0 ? `the certificate ended on ${validTo}` : `the certificate is good for ${daysLeft} days`,
      advice: 'Renew the certificate and restart.',
    }
  } catch (error) {
    return {
      check,
      ok: false,
      result: messageOf(error),
      advice: 'TLS_CERT must be a PEM certificate chain and TLS_KEY its private key, readable by this user.',
    }
  }
}
