// The settings of a locker as options of commands. Each is named as in the API, with hyphens.
import type { Command } from 'commander'
import { AppError } from '../errors.ts'
import type { LockerLook } from '../features/lockers/look.ts'
import { LockerInput, type LockerSettings } from '../features/lockers/schema.ts'
import { compileValidator } from '../http/validation.ts'
import { collect } from './output.ts'
import { UsageError } from './usage.ts'

const NONE = 'none'

type Kind = 'text' | 'number' | 'list' | 'flag'
type Row = [field: string, kind: Kind, value: string, about: string]

const COMMON: Row[] = [
  ['title', 'text', '<text>', 'title that visitors see, or "" for the default in their language'],
  ['text', 'text', '<text>', 'text below the title'],
  ['image', 'text', '<url>', 'image above the title, or "none"'],
  ['consent', 'text', '<text>', 'sentence that visitors read before they start'],
  ['needed_offers', 'number', '<n>', 'offers to complete, by any of their goals (default: 1, unless --needed-reward is given)'],
  ['needed_reward', 'number', '<units>', "reward to earn, in the app's currency"],
  ['counts_pending', 'flag', '', 'count pending conversions, too'],
  ['unlocked_minutes', 'number', '<n>', 'how long an unlock is valid (default: 1 day)'],
  ['categories', 'list', '<category>', 'show only offers of this category, or "none" for all (can be repeated)'],
  ['platforms', 'list', '<platform>', 'show offers only to visitors of this platform, or "none" for all (can be repeated)'],
  ['min_payout', 'number', '<usd>', 'show only offers that pay the publisher at least this, or "none"'],
  ['max_payout', 'number', '<usd>', 'show only offers that pay the publisher at most this, or "none"'],
  ['enabled', 'flag', '', 'enable the locker'],
] // prettier-ignore

const LINK: Row[] = [
  ['target_url', 'text', '<url>', 'destination URL of a link locker'],
  ['expires_at', 'text', '<time>', 'when the link stops working, or "none"'],
  ['click_limit', 'number', '<n>', 'how often the link can be opened, or "none"'],
  ['referrers', 'list', '<origin>', 'allowed referrer, or "none" to allow any (can be repeated)'],
  ['allows_no_referrer', 'flag', '', 'allow visitors without a referrer'],
  ['og_title', 'text', '<text>', 'title of the preview in other apps'],
  ['og_text', 'text', '<text>', 'text of the preview in other apps'],
  ['og_image', 'text', '<url>', 'image of the preview in other apps, or "none"'],
] // prettier-ignore

/** Of each flag. */
const OPPOSITES: Record<string, string> = {
  counts_pending: 'count only approved conversions',
  enabled: 'disable the locker',
  allows_no_referrer: 'block visitors without a referrer',
}

const PALETTES = ['light', 'dark'] as const
const COLORS = ['accent', 'background', 'card', 'text'] as const

/** Removed ones are those of the wall. */
const LOOK: Row[] = [
  ['theme', 'text', '<theme>', 'light, dark or auto, or "none" for the default of the wall'],
  ...PALETTES.flatMap(
    (palette) =>
    COLORS.map((color): Row => [`${palette}_${color}`, 'text', '<color>', 'color such as "#1b5fd1", in quotes, or "none" for the default of the wall']), // prettier-ignore
  ),
  ['radius', 'number', '<pixels>', 'radius of corners, or "none" for the default of the wall'],
  ['font', 'text', '<font>', 'system, rounded, serif or mono, or "none" for the default of the wall'],
]

const FIELDS = new Set([...COMMON, ...LOOK, ...LINK].map(([field]) => field))
const SINGULAR: Record<string, string> = { categories: 'category', platforms: 'platform', referrers: 'referrer' }
const optionOf = (field: string) => `--${(SINGULAR[field] ?? field).replaceAll('_', '-')}`
const keyOf = (field: string) => (SINGULAR[field] ?? field).replaceAll(/_(.)/g, (_, letter: string) => letter.toUpperCase()) // prettier-ignore

export type SettingOptions = { name?: string; slug?: string; password?: string } & Record<string, unknown>

export function withSettings(command: Command): Command {
  for (const [field, kind, value, about] of [...COMMON, ...LOOK, ...LINK]) {
    if (kind === 'list') command.option(`${optionOf(field)} ${value}`, about, collect, [])
    else command.option(`${optionOf(field)} ${value}`.trim(), about)
    if (kind === 'flag') command.option(`--no-${optionOf(field).slice(2)}`, OPPOSITES[field] ?? '')
  }
  command.option('--no-look', "use the appearance of the app's wall")
  return command.option('--password <text>', 'password that visitors of the link enter, or "none"')
}

/** The input of the API: `before` with what the options change. Says all that is wrong at once, by its option. */
export function readSettings(options: SettingOptions, before: LockerSettings | null): LockerInput {
  const { link, ...settings } = before ?? { link: null }
  const common = read(COMMON, options)
  if (common['needed_reward'] != null) common['needed_offers'] ??= null
  if (common['needed_offers'] != null) common['needed_reward'] ??= null
  const ofLink = read(LINK, options)
  const [first] = Object.keys(ofLink)
  const isLink = before === null ? 'target_url' in ofLink : link !== null
  if (first !== undefined && !isLink)
    throw new UsageError(`${optionOf(first)} is for link lockers only${before === null ? ': add --target-url' : ''}.`)
  const { name, slug, password } = options
  const input = {
    ...settings,
    ...common,
    look: readLook(options, before?.look ?? null),
    ...(name === undefined ? {} : { name }),
    ...(slug === undefined ? {} : { slug }),
    ...(password === undefined ? {} : { password: password === NONE ? null : password }),
    ...(isLink ? { link: { ...link, ...ofLink } } : {}),
  }
  const { error } = validate(input) as { error?: AppError }
  if (error !== undefined) throw inOptions(error)
  return input as unknown as LockerInput
}

/** What a locker sets for itself, each under the name of its option. */
export function lookFields(look: LockerLook | null): Record<string, unknown> {
  const named = Object.entries(look ?? {}).flatMap(([name, value]) =>
    typeof value === 'object'
      ? Object.entries(value).map(([color, hex]) => [`${name}_${color}`, hex])
      : [[name, value]],
  )
  return Object.fromEntries(named) as Record<string, unknown>
}

/** Null once it has nothing of its own. */
function readLook(options: SettingOptions, before: LockerLook | null): LockerLook | null {
  const { theme, radius, font, ...colors } = read(LOOK, options)
  const kept = options['look'] === false ? null : before
  const palettes = PALETTES.map((palette) => {
    const given = COLORS.map((color) => [color, colors[`${palette}_${color}`]])
    return [palette, whole({ ...kept?.[palette] }, Object.fromEntries(given) as object)]
  })
  return whole({ ...kept }, { theme, radius, font, ...Object.fromEntries(palettes) })
}

/** With the changes: undefined leaves a value as it is, null removes it. Null when nothing is left. */
function whole(before: object, changes: object): object | null {
  const given = Object.entries(changes).filter(([, value]) => value !== undefined)
  const left = Object.entries({ ...before, ...Object.fromEntries(given) }).filter(([, value]) => value !== null)
  return left.length === 0 ? null : Object.fromEntries(left)
}

const validate = compileValidator({ schema: LockerInput, httpPart: 'body', method: '', url: '' })

/** Those that were given. What is not a number is left to the schema, which says what it must be. */
function read(rows: Row[], options: SettingOptions): Record<string, unknown> {
  const given = rows.map(([field, kind]) => [field, kind, options[keyOf(field)]] as const)
  const isGiven = (value: unknown) => value !== undefined && !(Array.isArray(value) && value.length === 0)
  return Object.fromEntries(
    given.filter(([, , value]) => isGiven(value)).map(([field, kind, value]) => [field, readOne(kind, value)]),
  )
}

function readOne(kind: Kind, value: unknown): unknown {
  if (Array.isArray(value)) return value.includes(NONE) ? [] : value
  if (value === NONE) return null
  return kind === 'number' && /^-?\d+(\.\d+)?$/.test(String(value)) ? Number(value) : value
}

/** Problems of the API's fields, as problems of options. */
export function inOptions(error: AppError): UsageError {
  const lines = Object.entries(error.details ?? {}).map(([place, message]) => {
    const [of = '', ...parts] = place.split('.')
    const field = of === 'look' ? parts.join('_') : of === 'link' ? (parts[0] ?? of) : of
    const rest = message.startsWith(`${place} `) ? message.slice(place.length) : `: ${message}`
    const words = rest.replaceAll(/\b[a-z]+_[a-z_]+\b/g, (word) => (FIELDS.has(word) ? optionOf(word) : word))
    return `${optionOf(field)}${words.replace(', or null.', ', or "none".')}`
  })
  return new UsageError(lines.length === 0 ? error.message : lines.join('\n'))
}
