// What a request reveals about a visitor: IP address, country, device, and signs that it is no person.
import type { IncomingHttpHeaders } from 'node:http'
import Bowser from 'bowser'
import { isbot } from 'isbot'
import { Cache } from '../../lib/cache.ts'
import type { IpAddresses } from '../../settings-data.ts'
import { plainAddress, truncateAddress } from '../../lib/ip-address.ts'
import { type IpRanges, parseRanges } from '../../lib/ip-ranges.ts'
import type { Platform } from '../offers/choices.ts'
import { assignedCountry, openCountryFinder } from './geo.ts'
import { watchFile, type Log } from './watched-file.ts'

const MAX_AGENTS = 10_000
const MAX_AGENT_LENGTH = 1_000
const SHOWN_PROBLEMS = 3
const DEVICES = ['desktop', 'mobile', 'tablet', 'tv']
/** By the operating system, as Bowser names it. */
export const PLATFORM_OF: Record<string, Platform> = {
  android: 'android',
  ios: 'ios',
  windows: 'web',
  macos: 'web',
  linux: 'web',
  chromeos: 'web',
}
const PREFETCH_HEADERS = ['sec-purpose', 'purpose', 'x-purpose', 'x-moz']

type Agent = { device: string | null; os: string | null; platform: Platform | null; isBot: boolean }

export type Visitor = {
  /** As much of it as is stored; everything else goes by all of it. */
  ip: string | null
  country: string | null
  device: string | null
  os: string | null
  platform: Platform | null
  /** Why it is suspected: `bot`, `listed_ip`. */
  signals: string[]
}

export type VisitorReader = {
  /** `ip` is the client's IP address, `peer` that of the connection, which may be a proxy's. */
  read(request: { ip: string; peer: string; headers: IncomingHttpHeaders }): Visitor
  /** The country of an IP address, if known. */
  countryOf: (ip: string) => string | null
  /** Checks now whether a file has changed. This also happens every minute. */
  refresh(): Promise<void>
  close(): void
}

export type VisitorOptions = {
  geoipDb: string | null
  /** A header with the client's country, believed only from the proxies in `trustProxy`. */
  countryHeader: string | null
  trustProxy: string[]
  /** A file of suspicious IP addresses. */
  listedIps: string | null
  ipAddresses: IpAddresses
  log: Log
}

const STORED: Record<IpAddresses, (ip: string) => string | null> = {
  full: (ip) => ip,
  truncated: truncateAddress,
  none: () => null,
}

export async function openVisitorReader(options: VisitorOptions): Promise<VisitorReader> {
  const { log } = options
  using opened = new DisposableStack()
  const countries = opened.adopt(await openCountryFinder({ file: options.geoipDb, log }), (one) => one.close())
  const listed = opened.adopt(await openListedIps(options.listedIps, log), (one) => one?.close())
  const proxies = parseRanges(options.trustProxy.join('\n')).ranges
  const countryHeader = options.countryHeader?.toLowerCase() ?? null
  const agents = new Cache<string, Agent>(MAX_AGENTS)

  function countryFromProxy(peer: string, headers: IncomingHttpHeaders): string | null {
    const code = countryHeader === null ? null : assignedCountry(headers[countryHeader])
    return code !== null && proxies.has(peer) ? code : null
  }
  const owned = opened.move()
  return {
    read({ ip: givenIp, peer, headers }) {
      const ip = plainAddress(givenIp)
      const { device, os, platform, isBot } = agentOf(agents, headers['user-agent'] ?? '')
      const country = countryFromProxy(peer, headers) ?? (ip === null ? null : countries.find(ip))
      const signals: string[] = []
      if (isBot) signals.push('bot')
      if (ip !== null && listed?.value.has(ip)) signals.push('listed_ip')
      return { ip: ip === null ? null : STORED[options.ipAddresses](ip), country, device, os, platform, signals }
    },
    countryOf(given) {
      const ip = plainAddress(given)
      return ip === null ? null : countries.find(ip)
    },
    async refresh() {
      await Promise.all([countries.refresh(), listed?.refresh()])
    },
    close: () => owned.dispose(),
  }
}

async function openListedIps(file: string | null, log: Log) {
  if (file === null) return null
  const parse = (content: Buffer): IpRanges => {
    const { ranges, problems } = parseRanges(content.toString())
    if (problems.length > 0 && ranges.isEmpty) throw new Error('none of its lines is an address or a CIDR')
    if (problems.length > 0) {
      const count = problems.length === 1 ? 'a bad line, which is' : `${problems.length} bad lines, which are`
      log.warn(`LISTED_IPS has ${count} left out. ${problems.slice(0, SHOWN_PROBLEMS).join(' ')}`)
    }
    return ranges
  }
  const advice = 'Give LISTED_IPS a text file with one address or CIDR a line, or leave it out to do without.'
  return watchFile({ file, setting: 'LISTED_IPS', advice, parse, log })
}

function agentOf(agents: Cache<string, Agent>, header: string): Agent {
  const text = header.length > MAX_AGENT_LENGTH ? cutAgent(header) : header
  const known = agents.get(text)
  if (known !== undefined) return known
  const agent = parseAgent(text)
  agents.set(text, agent)
  return agent
}

/** A copy: a slice would keep the whole text alive for as long as it is in the cache. */
function cutAgent(text: string): string {
  return Buffer.from(text.slice(0, MAX_AGENT_LENGTH), 'utf16le').toString('utf16le')
}

function parseAgent(text: string): Agent {
  if (text.trim() === '') return { device: null, os: null, platform: null, isBot: true }
  const parser = Bowser.getParser(text, true) // parses what it is asked for only
  const os = parser.getOS().name?.toLowerCase().replaceAll(' ', '') ?? null
  const platform = (os !== null && PLATFORM_OF[os]) || null
  // Bowser knows Chrome OS, but not that it is found on desktops.
  const type = parser.getPlatform().type ?? (platform === 'web' ? 'desktop' : '')
  return { device: DEVICES.includes(type) ? type : null, os, platform, isBot: isbot(text) }
}

/** True for a prefetching browser: no user has followed the link yet. */
export function isPrefetch(headers: IncomingHttpHeaders): boolean {
  return PREFETCH_HEADERS.some(
    (name) => headers[name] !== undefined && /\b(prefetch|preview|prerender)\b/i.test(String(headers[name])),
  )
}

/** Whether a person sees the page that is asked for. */
export const isSeen = (
  { method, headers }: { method: string; headers: IncomingHttpHeaders },
  { signals }: Visitor,
): boolean => method !== 'HEAD' && !isPrefetch(headers) && !signals.includes('bot')
