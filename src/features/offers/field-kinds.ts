// The kinds of fields that an offer has: how a value is read from a file, a request or the form, how it is shown again,
// and how a person enters it.
import type { TSchema, TUnsafe } from 'typebox'
import { formatDuration } from '../../lib/duration.ts'
import { microsToUsd, PPM_PER_PERCENT } from '../../lib/money.ts'
import { type FieldReader, MAX_NAME, secondsOf } from './field-reader.ts'
import { parseTranslations, readTranslations, type Translations } from './translations.ts'

type Read = (from: FieldReader, name: string) => unknown

export type Kind = {
  input: keyof typeof ACCEPTED | 'goals'
  /** Of what is shown. */
  shape: TSchema
  /** What is stored; the reader notes what is wrong. */
  read: Read
  /** What is stored as an import would take it, where that is not the same. */
  show?: (stored: never) => unknown
  /** What it accepts, for people. */
  rule?: string
  choices?: readonly string[]
}

/** JSON Schema: commands read fields as well, and TypeBox takes long to load. */
export const plain = <T>(schema: object) => schema as TUnsafe<T>
const STRING = plain<string>({ type: 'string' })
const NUMBER = plain<number>({ type: 'number' })
const BOOLEAN = plain<boolean>({ type: 'boolean' })
const STRINGS = plain<string[]>({ type: 'array', items: STRING })
const orNull = <T>(schema: TUnsafe<T>) => plain<T | null>({ anyOf: [schema, { type: 'null' }] })
const oneOf = <V extends string>(values: readonly V[]) => plain<V>({ type: 'string', enum: values })

/** What a request may give for each input; reading it finds out the rest. */
export const ACCEPTED = {
  text: STRING,
  lines: STRING,
  choice: STRING,
  time: STRING,
  number: plain<number | string>({ anyOf: [NUMBER, STRING] }),
  flag: BOOLEAN,
  choices: STRINGS,
  countries: STRINGS,
  translations: plain<Translations>({
    type: 'object',
    additionalProperties: { type: 'object', additionalProperties: STRING },
  }),
}

const quoted = (values: readonly string[]) => values.map((value) => `\`${value}\``).join(', ')
const kind = <const K extends Kind>(it: K) => it

export const text = (max?: number) =>
  kind({ input: 'text', shape: STRING, read: (from, name) => from.text(name, { max }) })

export const lines = kind({ input: 'lines', shape: STRING, read: (from, name) => from.text(name) })

export const requiredText = kind({
  input: 'text',
  shape: STRING,
  read: (from, name) => from.text(name, { required: true, max: MAX_NAME }),
  rule: 'required',
})

/** Null when there is none. */
export const textOrNull = (read: Read) => kind({ input: 'text', shape: orNull(STRING), read })

export const url = (macros: readonly string[]) =>
  kind({
    input: 'text',
    shape: STRING,
    read: (from, name) => from.url(name, { macros }) ?? '',
    rule: `required, http or https; may have the macros ${quoted(macros.map((name) => `{${name}}`))}`,
  })

/** Required where there is no fallback. */
export const choice = <const V extends string>(values: readonly V[], fallback?: NoInfer<V>) =>
  kind({
    input: 'choice',
    shape: oneOf(values),
    read: (from, name) => from.oneOf(name, values, fallback),
    rule: fallback === undefined ? `required: ${quoted(values)}` : `${quoted(values)}; default \`${fallback}\``,
    choices: values,
  })

/** All of them when none is given. */
export const choices = <const V extends string>(values: readonly V[]) =>
  kind({
    input: 'choices',
    shape: plain<V[]>({ type: 'array', items: oneOf(values) }),
    read: (from, name) => from.someOf(name, values),
    rule: `${quoted(values)}; default all of them`,
    choices: values,
  })

export const countries = kind({
  input: 'countries',
  shape: STRINGS,
  read: (from, name) => from.countries(name),
  rule: 'ISO codes; in CSV separated by commas or spaces',
})

/** Of these fields, with the most characters of each. */
export const translations = (longest: Record<string, number>) =>
  kind({
    input: 'translations',
    shape: ACCEPTED.translations,
    read: (from, name) => readTranslations(from, name, longest),
    show: (recorded: string) => parseTranslations(recorded),
    rule: `by ISO 639-1 code, each with any of ${quoted(Object.keys(longest))}; in CSV as JSON text`,
  })

export const flag = (fallback: boolean) =>
  kind({
    input: 'flag',
    shape: BOOLEAN,
    read: (from, name) => from.flag(name, fallback),
    rule: `\`true\` or \`false\`; default \`${fallback}\``,
  })

/** In micros. */
export const usd = kind({
  input: 'number',
  shape: NUMBER,
  read: (from, name) => from.money(name),
  show: (micros: number) => microsToUsd(micros),
  rule: 'US dollars, at most 4 decimals',
})

/** In millionths. */
export const percent = kind({
  input: 'number',
  shape: orNull(NUMBER),
  read: (from, name) => from.percent(name),
  show: (ppm: number | null) => (ppm === null ? null : ppm / PPM_PER_PERCENT),
})

export const countCap = kind({
  input: 'number',
  shape: orNull(NUMBER),
  read: (from, name) => from.countCap(name),
  rule: 'a whole number from 1 to 1,000,000,000,000; without it no cap',
})

/** In per cent. */
export const factor = kind({
  input: 'number',
  shape: NUMBER,
  read: (from, name) => from.factor(name),
  show: (percent: number) => percent / 100,
  rule: 'a factor from 0.1 to 10 with at most 2 decimals; default `1`',
})

export const position = kind({
  input: 'number',
  shape: orNull(NUMBER),
  read: (from, name) => from.position(name),
  rule: 'a whole number from 1 to 100; without it no position',
})

/** In micros. */
export const payoutCap = kind({
  input: 'number',
  shape: orNull(NUMBER),
  read: (from, name) => from.payoutCap(name),
  show: (micros: number | null) => (micros === null ? null : microsToUsd(micros)),
  rule: 'US dollars above 0 and below 1,000,000,000, at most 4 decimals; without it no cap',
})

export const time = kind({
  input: 'time',
  shape: orNull(plain<Date>({ type: 'string', format: 'date-time' })),
  read: (from, name) => from.time(name),
  rule: 'a time such as `2026-01-31T12:00:00Z`',
})

/** In seconds. */
export function duration(atLeast: string, atMost: string, fallback: string) {
  const fallbackSeconds = secondsOf(fallback)
  return kind({
    input: 'text',
    shape: STRING,
    read: (from, name) => from.duration(name, atLeast, atMost) ?? fallbackSeconds,
    show: (seconds: number) => formatDuration(seconds * 1_000),
    rule: `a time such as \`90s\`, \`15m\`, \`24h\` or \`30d\`, from \`${atLeast}\` to \`${atMost}\`; default \`${fallback}\``,
  })
}
