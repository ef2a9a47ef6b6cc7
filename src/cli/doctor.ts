// Checks what the program needs, and says what to do about what does not work.
import { X509Certificate } from 'node:crypto'
import { accessSync, constants, readFileSync } from 'node:fs'
import { isIP } from 'node:net'
import { createSecureContext } from 'node:tls'
import { Command } from 'commander'
import { type Config, loadConfig } from '../config.ts'
import { createDataDir } from '../db/embedded.ts'
import { messageOf } from '../errors.ts'
import { openRedis } from '../http/redis-client.ts'
import { inTime } from '../lib/in-time.ts'
import { isLoopback } from '../lib/ip-ranges.ts'
import { rfc3339 } from '../lib/time.ts'
import { hasSecretKey } from './context.ts'
import { checkBackups, checkExport } from './doctor-copies.ts'
import { checkDatabase, type Finding } from './doctor-database.ts'
import { type OutputOptions, show } from './output.ts'
import { failLater, terminal } from './terminal.ts'

const EXPIRY_WARNING_DAYS = 14
const REDIS_PATIENCE_MS = 3_000

export const doctorCommand = () =>
  new Command('doctor').action(async (options: OutputOptions) => {
    const config = loadConfig(terminal().env)
    const findings = [
      checkFolder(config),
      ...(await checkDatabase(config)),
      await checkRedis(config),
      checkBackups(config),
      await checkExport(config),
      checkTls(config, new Date()),
      checkReach(config),
      checkContact(config),
    ]
    show(options, { ok: findings.every(({ ok }) => ok), findings }, () => findings.map(describe).join('\n'))
    if (findings.some(({ ok }) => !ok)) failLater()
  })

function describe({ check, ok, result, advice }: Finding): string {
  const line = `${ok ? 'ok  ' : 'FAIL'}  ${check.padEnd(9)} ${result}`
  return ok || advice === undefined ? line : `${line}\n      → ${advice}`
}

function checkFolder(config: Config): Finding {
  const check = 'folder'
  try {
    createDataDir(config.dataDir)
    accessSync(config.dataDir, constants.W_OK | constants.R_OK | constants.X_OK)
  } catch (error) {
    return {
      check,
      ok: false,
      result: messageOf(error),
      advice: `Give this user write access to ${config.dataDir}, or set DATA_DIR to another folder.`,
    }
  }
  const key = hasSecretKey(config) ? 'the secret key exists' : 'the secret key will be created at the first start'
  return { check, ok: true, result: `${config.dataDir} is writable; ${key}` }
}

async function checkRedis(config: Config): Promise<Finding> {
  const check = 'redis'
  if (config.redisUrl === null) return { check, ok: true, result: 'not used: each process counts its own requests' }
  let problem = 'does not answer'
  const { client, connected, close } = await openRedis(
    config.redisUrl,
    (error) => (problem = messageOf(error) || problem),
  )
  try {
    await inTime(connected, REDIS_PATIENCE_MS)
    await inTime(client.eval('return 1', { keys: [], arguments: [] }), REDIS_PATIENCE_MS)
    return { check, ok: true, result: 'answers' }
  } catch {
    return {
      check,
      ok: false,
      result: problem,
      advice:
        'Check that Redis is running and that REDIS_URL is correct. Until then, each process counts its own requests.',
    }
  } finally {
    await close()
  }
}

function checkTls(config: Config, now: Date): Finding {
  const { tls, requireHttps, trustProxy } = config
  const check = 'tls'
  if (tls === null) {
    if (!requireHttps) return { check, ok: true, result: 'not used: plain HTTP is accepted (REQUIRE_HTTPS is off)' }
    if (trustProxy.length > 0) return { check, ok: true, result: `handled by the proxies at ${trustProxy.join(', ')}` }
    return {
      check,
      ok: false,
      result: 'HTTPS is required, but nothing provides it',
      advice: 'Set TLS_CERT and TLS_KEY, or TRUST_PROXY to the IP address of a proxy that does.',
    }
  }
  try {
    const cert = readFileSync(tls.certFile)
    createSecureContext({ cert, key: readFileSync(tls.keyFile) })
    return judgeCertificate(new X509Certificate(cert), new URL(config.publicUrl).hostname, now)
  } catch (error) {
    return {
      check,
      ok: false,
      result: messageOf(error),
      advice: 'TLS_CERT must be a PEM certificate chain and TLS_KEY its private key, readable by this user.',
    }
  }
}

function judgeCertificate(certificate: X509Certificate, hostname: string, now: Date): Finding {
  const check = 'tls'
  const { validFromDate, validToDate } = certificate
  const name = hostname.replaceAll(/[[\]]/g, '')
  const isFor = isIP(name) === 0 ? certificate.checkHost(name) : certificate.checkIP(name)
  if (isFor === undefined) {
    const names = certificate.subjectAltName ?? certificate.subject
    const result = `the certificate is for another host (${names}), not for ${name}, the host of PUBLIC_URL`
    return { check, ok: false, result, advice: `Get a certificate for ${name}, or correct PUBLIC_URL.` }
  }
  const advice = 'Renew the certificate and restart.'
  if (validFromDate > now)
    return { check, ok: false, result: `the certificate is not valid until ${rfc3339(validFromDate)}`, advice }
  if (validToDate <= now)
    return { check, ok: false, result: `the certificate expired on ${rfc3339(validToDate)}`, advice }
  const daysLeft = Math.floor((validToDate.getTime() - now.getTime()) / 86_400_000)
  const result = `the certificate for ${name} is valid for ${daysLeft} days`
  return { check, ok: daysLeft >= EXPIRY_WARNING_DAYS, result, advice }
}

/** Whether what PUBLIC_URL promises can come to HOST. */
function checkReach({ host, publicUrl, trustProxy }: Config): Finding {
  const check = 'address'
  const { hostname } = new URL(publicUrl)
  const result = `listens on ${host} for ${publicUrl}`
  if (!isLoopback(host) || isLoopback(hostname) || trustProxy.some(isLocalProxy)) return { check, ok: true, result }
  return {
    check,
    ok: false,
    result: `${result}: ${host} is reachable only from this machine, and TRUST_PROXY lists no proxy on this machine`,
    advice: 'Set HOST to 0.0.0.0 or ::, or run a proxy on this machine and set TRUST_PROXY=127.0.0.1.',
  }
}

/** It is optional: mentioned, and no failure. */
function checkContact({ securityContact }: Config): Finding {
  const result =
    securityContact ?? 'no contact for vulnerabilities: set SECURITY_CONTACT to publish /.well-known/security.txt'
  return { check: 'security', ok: true, result }
}

const isLocalProxy = (cidr: string) => isLoopback(cidr.replace(/\/\d+$/, ''))
