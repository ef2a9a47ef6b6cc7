// What is given for a feed, when it is added and when it is changed.
import { readFileSync } from 'node:fs'
import type { Command } from 'commander'
import { cannotRead, InvalidInput, OperatorError } from '../errors.ts'
import type { GivenSettings } from '../features/feeds/feed-settings.ts'
import { UsageError } from './usage.ts'

export type SettingOptions = { [N in keyof typeof SETTINGS]?: string }
export type FeedOptions = SettingOptions & { credentials?: string; definition?: string }

const NONE = 'none'
const number = (text: string) => (text.trim() === '' ? Number.NaN : Number(text))
const list = (text: string) => (text === NONE ? [] : text.split(',').map((one) => one.trim())) // prettier-ignore

type Setting = { option: string; about: string; setting: keyof GivenSettings; read: (text: string) => unknown }
const setting = (option: string, about: string, name: keyof GivenSettings, read: Setting['read']) => ({ option, about, setting: name, read }) // prettier-ignore

/** By the name that its option has in code. */
const SETTINGS = {
  share: setting('--share <percent>', "share of the network's payout that goes to publishers", 'share_percent', number),
  minMargin: setting('--min-margin <usd>', 'minimum margin per goal, whatever the share, or "none"', 'min_margin', (text) => (text === NONE ? null : text)),
  maxMargin: setting('--max-margin <usd>', 'maximum margin per goal, or "none"', 'max_margin', (text) => (text === NONE ? null : text)),
  every: setting('--every <time>', 'how often to fetch the feed, such as 30m', 'every', (text) => text),
  currency: setting('--currency <code>', 'currency of offers without one', 'currency', (text) => text),
  maxGone: setting('--max-gone <percent>', "refuse runs that would pause more of the feed's offers than this", 'max_gone_percent', number),
  holdChanges: setting('--hold-changes <percent>', 'hold larger payout changes for approval, or "none"', 'hold_changes_percent', (text) => (text === NONE ? null : number(text))),
  maxOffers: setting('--max-offers <n>', 'refuse runs with more offers than this', 'max_offers', number),
  minPayout: setting('--min-payout <usd>', 'skip offers that pay publishers less, or "none"', 'min_payout', (text) => (text === NONE ? null : text)),
  countries: setting('--countries <codes>', 'only offers for these countries, such as US,DE, or "none" for all', 'countries', (text) => list(text).map((code) => code.toUpperCase())),
  platforms: setting('--platforms <platforms>', 'only offers for these platforms, such as android,ios, or "none" for all', 'platforms', list),
  categories: setting('--categories <categories>', 'only offers of these categories, such as game,app, or "none" for all', 'categories', list),
  blockWords: setting('--block-words <words>', 'skip offers with these words, such as casino,dating, or "none"', 'blocked_words', list),
} satisfies Record<string, Setting> // prettier-ignore

/** Adds its options to a command. */
export function withSettings(command: Command): Command {
  for (const { option, about } of Object.values(SETTINGS)) command.option(option, about)
  return command
    .option('--credentials <file>', 'JSON file such as { "key": "…" }; - for standard input')
    .option('--definition <file>', 'JSON file with the request and mapping of any other network')
}

/** As the management API takes it. */
export function readGiven(options: FeedOptions) {
  const settings = Object.entries(SETTINGS).flatMap(([name, { setting: field, read }]) => {
    const text = options[name as keyof SettingOptions]
    return text === undefined ? [] : [[field, read(text)] as const]
  })
  const { request, mapping } = options.definition === undefined ? {} : readObject(options.definition, '--definition')
  return {
    ...(settings.length === 0 ? {} : { settings: Object.fromEntries(settings) as Partial<GivenSettings> }),
    ...(options.credentials === undefined ? {} : { credentials: readCredentials(options.credentials) }),
    ...(options.definition === undefined ? {} : { request: request ?? null, mapping: mapping ?? null }),
  }
}

/** Says what is wrong by option. */
export async function byOption<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof InvalidInput) throw new UsageError(error.problems.map(({ field, message }) => `${optionOf(field)}: ${message}`).join('\n')) // prettier-ignore
    if (error instanceof OperatorError && error.field !== null) throw new UsageError(`${optionOf(error.field)}: ${error.message}`) // prettier-ignore
    throw error
  }
}

function optionOf(field: string): string {
  const [first = '', ...rest] = field.split('.')
  const known = Object.values(SETTINGS).find((one) => first === 'settings' && one.setting === rest[0])
  if (known !== undefined) return known.option.split(' ')[0] as string
  if (first === 'request' || first === 'mapping') return `--definition, ${field}`
  return [`--${first.replaceAll('_', '-')}`, ...rest].join(' ')
}

/** From a file, so that a secret is in no history and in no list of processes. */
export function readSecret(file: string): string {
  try {
    return readFileSync(file === '-' ? 0 : file, 'utf8').trim()
  } catch (error) {
    throw cannotRead(file, error)
  }
}

const readCredentials = (file: string): Record<string, string> =>
  Object.fromEntries(Object.entries(readObject(file, '--credentials')).map(([name, value]) => [name, String(value)]))

function readObject(file: string, option: string): Record<string, unknown> {
  let given: unknown
  try {
    given = JSON.parse(readFileSync(file === '-' ? 0 : file, 'utf8'))
  } catch (error) {
    throw error instanceof SyntaxError ? new UsageError(`${option} is not JSON.`) : cannotRead(file, error)
  }
  if (typeof given !== 'object' || given === null || Array.isArray(given)) throw new UsageError(`${option} must be a JSON object.`) // prettier-ignore
  return given as Record<string, unknown>
}
