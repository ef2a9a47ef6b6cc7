// What an advertiser's confirmations may come from, and the words it uses in them.
import ipaddr from 'ipaddr.js'
import { type Db, inTransaction } from '../../db/open.ts'
import { InvalidInput, NoSuch, type Problem } from '../../errors.ts'
import { type Advertiser, ADVERTISER, getAdvertiser } from './advertisers.ts'
import { type Actor, recordAudit } from './audit.ts'
import { type CallRules, readCallRules } from './call-rules.ts'
import { isParameterName, isWord, MAX_WORD, notAParameter } from './call-words.ts'

/** What an advertiser's own words can be mapped to. */
export const CONFIRMED_STATUSES = ['approved', 'pending', 'rejected', 'reversed'] as const
/** The parameters of a confirmation that an advertiser may have names of its own for. */
export const POSTBACK_PARAMETERS = [
  'click_id', 'goal', 'txn_id', 'amount', 'currency', 'status', 'ip', 'country', 'external_offer_id',
] as const // prettier-ignore

/** What a negative amount can mean, and what decimals can be separated with. */
export const NEGATIVE_AMOUNTS = ['refuse', 'reversal', 'ignore'] as const
export const DECIMAL_MARKS = ['detect', 'point', 'comma'] as const

/** What an advertiser's people see of the publishers behind their figures and conversions. */
export const SEEN_PUBLISHERS = ['nothing', 'id', 'name'] as const

const MAX_ENTRIES = 200

/** Pairs as given, so that a duplicate can be reported. */
export type AdvertiserSettings = {
  allowedIps: string[]
  /** [their word, our status] */
  statusMap: [string, string][]
  /** [our parameter, their name] */
  aliases: [string, string][]
  negativeAmount: string
  decimalMark: string
  /** Empty: none. */
  reversalPrefix: string
  seesPublishers: string
  callRules: CallRules
}

type Report = (message: string) => void

/** Replaces each given setting as a whole, and leaves the rest. All problems are reported at once. */
export async function setAdvertiser(
  db: Db,
  by: Actor,
  advertiserId: number,
  settings: Partial<AdvertiserSettings>,
): Promise<Advertiser> {
  const problems: Problem[] = []
  const of =
    (field: string): Report =>
    (message) =>
      void problems.push({ field, message })
  const values = {
    ...(settings.allowedIps && { allowed_ips: readAllowedIps(settings.allowedIps, of('allowed_ips')) }),
    ...(settings.statusMap && { status_map: JSON.stringify(readStatusMap(settings.statusMap, of('status_map'))) }),
    ...(settings.aliases && { aliases: JSON.stringify(readAliases(settings.aliases, of('aliases'))) }),
    ...(settings.negativeAmount !== undefined && {
      negative_amount: readOneOf(NEGATIVE_AMOUNTS, settings.negativeAmount, 'a negative amount', of('negative_amount')),
    }),
    ...(settings.decimalMark !== undefined && {
      decimal_mark: readOneOf(DECIMAL_MARKS, settings.decimalMark, 'the decimal separator', of('decimal_mark')),
    }),
    ...(settings.reversalPrefix !== undefined && {
      reversal_prefix: readPrefix(settings.reversalPrefix, of('reversal_prefix')),
    }),
    ...(settings.seesPublishers !== undefined && {
      sees_publishers: readOneOf(
        SEEN_PUBLISHERS,
        settings.seesPublishers,
        'how publishers are shown',
        of('sees_publishers'),
      ),
    }),
    ...(settings.callRules && { call_rules: JSON.stringify(readCallRules(settings.callRules, of('call_rules'))) }),
  }
  if (problems.length > 0) throw new InvalidInput(problems)
  if (Object.keys(values).length === 0) return getAdvertiser(db, advertiserId)
  return inTransaction(db, async (trx) => {
    const ofThis = trx.selectFrom('advertisers').select(ADVERTISER).where('advertiser_id', '=', advertiserId)
    const before = (await ofThis.forNoKeyUpdate().executeTakeFirst()) as Advertiser | undefined
    if (before === undefined) throw new NoSuch('advertiser', advertiserId)
    await trx.updateTable('advertisers').set(values).where('advertiser_id', '=', advertiserId).execute()
    const after = (await ofThis.executeTakeFirstOrThrow()) as Advertiser
    const details = { changes: compare(before, after) }
    await recordAudit(trx, by, { action: 'advertiser.change', subject: advertiserId, details })
    return after
  })
}

function compare(before: Advertiser, after: Advertiser) {
  const fields = [
    'allowed_ips',
    'status_map',
    'aliases',
    'negative_amount',
    'decimal_mark',
    'reversal_prefix',
    'sees_publishers',
    'call_rules',
  ] as const
  const changed = fields.filter((field) => JSON.stringify(before[field]) !== JSON.stringify(after[field]))
  return Object.fromEntries(changed.map((field) => [field, { before: before[field], after: after[field] }]))
}

function readAllowedIps(texts: string[], report: Report): string[] {
  if (texts.length > MAX_ENTRIES) report(`At most ${MAX_ENTRIES} addresses can be allowed.`)
  const ranges = texts.map((text) => {
    const range = readRange(text.trim())
    if (range === 'bad') report(`"${text}" is not an address such as 192.0.2.7 or a range such as 192.0.2.0/24.`)
    if (range === 'everything') report(`"${text}" allows every IP address, so it would protect nothing.`)
    return range
  })
  return [...new Set(ranges)]
}

/** In canonical form: IPv4 addresses as such, even where they are written as IPv6. */
function readRange(text: string): string {
  const [host = '', bitsText, ...more] = text.split('/')
  if (host.includes('%') || (!ipaddr.IPv4.isValidFourPartDecimal(host) && !ipaddr.IPv6.isValid(host))) return 'bad'
  const address = ipaddr.parse(host)
  const isMapped = address instanceof ipaddr.IPv6 && address.isIPv4MappedAddress()
  if (bitsText === undefined) return ipaddr.process(host).toString()
  const bits = /^\d{1,3}$/.test(bitsText) ? Number(bitsText) : Infinity
  if (more.length > 0 || bits > (address instanceof ipaddr.IPv4 ? 32 : 128)) return 'bad'
  if (isMapped && bits > 96) return `${address.toIPv4Address().toString()}/${bits - 96}`
  const takesInIPv4 =
    address instanceof ipaddr.IPv6 && ipaddr.IPv6.parse('::ffff:0:0').match(address, Math.min(bits, 96))
  return bits === 0 || takesInIPv4 ? 'everything' : `${address.toString()}/${bits}`
}

function readOneOf(known: readonly string[], value: string, what: string, report: Report): string {
  if (!known.includes(value)) report(`"${value}" is not valid for ${what}. Use one of ${known.join(', ')}.`)
  return value
}

function readPrefix(text: string, report: Report): string {
  const prefix = text.trim()
  if (prefix !== '' && (!isWord(prefix) || prefix.length > 20))
    report('The transaction ID prefix of reversals must have at most 20 characters.')
  return prefix
}

function readStatusMap(pairs: [string, string][], report: Report): Record<string, string> {
  if (pairs.length > MAX_ENTRIES) report(`At most ${MAX_ENTRIES} statuses can be mapped.`)
  const map = new Map<string, string>()
  for (const [word, status] of pairs) {
    const theirs = word.trim().toLowerCase()
    if (!isWord(theirs)) report(`"${word}" is not a value of 1 to ${MAX_WORD} characters.`)
    if (!CONFIRMED_STATUSES.some((known) => known === status))
      report(`"${status}" is not a status. Map to one of ${CONFIRMED_STATUSES.join(', ')}.`)
    if ((map.get(theirs) ?? status) !== status) report(`"${theirs}" is mapped to two statuses.`)
    map.set(theirs, status)
  }
  return Object.fromEntries(map)
}

function readAliases(pairs: [string, string][], report: Report): Record<string, string[]> {
  if (pairs.length > MAX_ENTRIES) report(`At most ${MAX_ENTRIES} parameter names can be mapped.`)
  const meanings = new Map<string, string>()
  for (const [ours, name] of pairs) {
    const theirs = name.trim()
    if (!POSTBACK_PARAMETERS.some((known) => known === ours))
      report(`"${ours}" is not a parameter. Use one of ${POSTBACK_PARAMETERS.join(', ')}.`)
    if (!isParameterName(theirs)) report(notAParameter(name))
    // Our own names are understood as well, whatever the aliases.
    if (theirs !== ours && ['token', ...POSTBACK_PARAMETERS].includes(theirs))
      report(`"${theirs}" is one of our own parameters, so it cannot be mapped to ${ours}.`)
    if ((meanings.get(theirs) ?? ours) !== ours) report(`"${theirs}" is mapped to two parameters.`)
    meanings.set(theirs, ours)
  }
  const names = [...meanings.keys()]
  return Object.fromEntries(
    Object.entries(Object.groupBy(names, (name) => meanings.get(name) ?? '')).map(([ours, theirs = []]) => [
      ours,
      theirs,
    ]),
  )
}
