// Publishers choose where postbacks go, so a URL can be an attack on what only this machine can reach: the database,
// cloud metadata, a router. Only public unicast addresses are allowed. They are checked where they are used, as IP
// addresses and not as names: a name can resolve differently a moment later.
import { Resolver } from 'node:dns/promises'
import ipaddr from 'ipaddr.js'
import { addressWords, plainAddress } from '../../lib/ip-address.ts'
import { type IpRanges, parseRanges } from '../../lib/ip-ranges.ts'
import { SendError } from './send-error.ts'

const LOOKUP = { timeout: 2_000, tries: 2 }
// Some DNS servers never answer for a family they have no records of: once one family has addresses, the other is not
// waited for.
const OTHER_FAMILY_MS = 500
const LOOPBACK = ['127.0.0.1', '::1']

/** The IP addresses that postbacks may go to. */
export type AddressGuard = {
  /** Why this IP address is not allowed, as a sentence, or null when it is. */
  refusal(address: string): string | null
  /**
   * The IP addresses of a host (a name or a literal, as `URL.hostname` has it), all of them allowed. Otherwise throws a
   * SendError of phase 'dns'.
   */
  resolve(hostname: string, signal: AbortSignal): Promise<string[]>
}

/** As in `dns.promises.Resolver`. One per look-up, so that each can be cancelled by itself. */
export type NameResolver = {
  resolve4(name: string): Promise<string[]>
  resolve6(name: string): Promise<string[]>
  cancel(): void
}

export type GuardOptions = {
  /** CIDRs that are allowed although they are not public. */
  allow: readonly string[]
  /** CIDRs that are never allowed. */
  deny: readonly string[]
  /** For the demo, whose receiver is on this machine. */
  allowLoopback: boolean
  resolver?: () => NameResolver
}

export function createAddressGuard(options: GuardOptions): AddressGuard {
  const allowed = rangesOf(options.allowLoopback ? [...options.allow, '127.0.0.0/8', '::1'] : options.allow)
  const denied = rangesOf(options.deny)
  // Not dns.lookup: that runs in one of four threads, and a few names that never resolve would block everything else.
  const createResolver = options.resolver ?? (() => new Resolver(LOOKUP))

  const refusal = (address: string): string | null => {
    const plain = plainAddress(address)
    if (plain === null) return `${address} is not an IP address.`
    if (denied.has(plain)) return `${plain} is an IP address that the operator denies.`
    return allowed.has(plain) || isPublicUnicast(plain)
      ? null
      : `${plain} is not a public IP address. The operator can allow it with POSTBACK_ALLOW=${plain}/${plain.includes(':') ? 128 : 32}.`
  }

  const resolve = async (hostname: string, signal: AbortSignal): Promise<string[]> => {
    const addresses = knownAddresses(hostname) ?? (await lookUp(createResolver(), hostname, signal))
    // One forbidden address rejects the whole name: mixing them is an attempt to have the forbidden one picked.
    for (const address of addresses) {
      const reason = refusal(address)
      if (reason !== null) throw new SendError('dns', 'refused_address', hostRefusal(hostname, address, reason))
    }
    return addresses
  }

  return { refusal, resolve }
}

/** Why this URL may not be saved as a postback URL. What its name resolves to is checked at every send. */
export function literalRefusal(guard: AddressGuard, url: URL): string | null {
  if (url.protocol !== 'http:' && url.protocol !== 'https:') return 'Only http and https URLs can be called.'
  if (url.username !== '' || url.password !== '') return 'The URL must not contain a user name or a password.'
  if (url.port === '0') return 'Port 0 cannot be called.'
  for (const address of knownAddresses(url.hostname) ?? []) {
    const reason = guard.refusal(address)
    if (reason !== null) return hostRefusal(url.hostname, address, reason)
  }
  return null
}

function rangesOf(cidrs: readonly string[]): IpRanges {
  const { ranges, problems } = parseRanges(cidrs.join('\n'))
  if (problems.length > 0) throw new TypeError(problems.join(' '))
  return ranges
}

/**
 * Beyond what ipaddr.js knows as special: all IPv6 that is not allocated (2000::/3 is), where ::127.0.0.1 hides, and
 * ISATAP, which has an IPv4 address behind the marker 0:5efe.
 */
function isPublicUnicast(plain: string): boolean {
  if (ipaddr.parse(plain).range() !== 'unicast') return false
  const words = addressWords(plain)!
  if (words.length === 1) return true
  return words[0]! >>> 29 === 1 && (words[2]! & 0xfdff_ffff) >>> 0 !== 0x5efe
}

/** The addresses of a literal, or of localhost, which DNS does not handle; null for other names. */
function knownAddresses(hostname: string): string[] | null {
  const literal = plainAddress(hostname.startsWith('[') ? hostname.slice(1, -1) : hostname)
  if (literal !== null) return [literal]
  return /^(?:.+\.)?localhost\.?$/i.test(hostname) ? LOOPBACK : null
}

async function lookUp(resolver: NameResolver, name: string, signal: AbortSignal): Promise<string[]> {
  const cancel = () => resolver.cancel()
  signal.addEventListener('abort', cancel)
  try {
    if (signal.aborted) throw cancelled()
    const families = await askForBoth(resolver, name)
    if (signal.aborted) throw cancelled()
    const addresses = alternate(families.map((family) => (family.status === 'fulfilled' ? family.value : [])))
    if (addresses.length > 0) return addresses
    throw lookUpError(name, families)
  } finally {
    signal.removeEventListener('abort', cancel)
  }
}

async function askForBoth(resolver: NameResolver, name: string): Promise<PromiseSettledResult<string[]>[]> {
  let timer: NodeJS.Timeout | undefined
  const hurry = (addresses: string[]) => {
    if (addresses.length > 0) timer ??= setTimeout(() => resolver.cancel(), OTHER_FAMILY_MS)
    return addresses
  }
  try {
    return await Promise.allSettled([resolver.resolve4(name).then(hurry), resolver.resolve6(name).then(hurry)])
  } finally {
    clearTimeout(timer)
  }
}

/** First of each family, second of each …: a machine without IPv6 needs just one more attempt. */
function alternate(families: readonly string[][]): string[] {
  const longest = Math.max(...families.map(({ length }) => length))
  return Array.from({ length: longest }, (_, i) => families.flatMap((family) => family[i] ?? [])).flat()
}

function lookUpError(name: string, families: readonly PromiseSettledResult<string[]>[]): SendError {
  const codes = families.map((family) => (family.status === 'rejected' ? codeOf(family.reason) : 'ENODATA'))
  const problem = codes.find((code) => code !== 'ENOTFOUND' && code !== 'ENODATA')
  if (problem === 'ECONNREFUSED')
    return new SendError(
      'dns',
      'resolver_failed',
      'The DNS server of this network cannot be reached. Contact the operator.',
    )
  return new SendError('dns', 'dns_failed', lookUpProblem(name, problem))
}

function lookUpProblem(name: string, code: string | undefined): string {
  if (code === undefined) return `The host "${name}" has no IP address. Check the name and its DNS records.`
  if (code === 'EBADNAME') return `The host "${name}" is not a valid name.`
  if (code === 'ETIMEOUT') return `No DNS server answered for the host "${name}" in time. Check its name servers.`
  return `The host "${name}" could not be looked up (${code}). Check its name servers and DNS records.`
}

function codeOf(reason: unknown): string {
  return reason instanceof Error && 'code' in reason ? String(reason.code) : 'unknown'
}

function cancelled(): SendError {
  return new SendError('dns', 'cancelled', 'The look-up was cancelled.')
}

function hostRefusal(hostname: string, address: string, reason: string): string {
  const isLiteral = hostname === address || hostname === `[${address}]`
  return isLiteral ? reason : `The host "${hostname}" resolves to ${address}. ${reason}`
}
