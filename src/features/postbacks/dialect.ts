// A dialect: how a receiver that was written for another network expects postbacks. It is data: what values look like,
// which answers mean that a postback was received, and how the receiver checks signatures. The names of parameters are
// in the URL, as for every receiver.
import { createHash } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import type { Problem } from '../../errors.ts'
import { checkRecipe, type Recipe } from './recipe.ts'
import type { Status } from './statuses.ts'
import type { MacroValues } from './template.ts'

export const TIMES = ['unix', 'unix_ms', 'iso', 'sql'] as const
export const TRANSACTION_IDS = ['event', 'conversion'] as const
export const ID_FORMATS = ['uuid', 'number'] as const
export const POST_BODIES = ['json', 'form'] as const

export type Dialect = {
  /** The receiver's word for each status. Where there are any, a status without a word cannot be sent. */
  statuses: Partial<Record<Status, string>>
  /** Exactly so many; null: as many as are needed. What is beyond them is cut off. */
  reward_decimals: number | null
  payout_decimals: number | null
  /** sql: 2026-11-15 07:56:25, in UTC. */
  times: (typeof TIMES)[number]
  /** What {transaction_id} is: of the conversion, a reversal repeats the ID of the approval. */
  transaction_id: (typeof TRANSACTION_IDS)[number]
  ids: (typeof ID_FORMATS)[number]
  /** form: a POST sends the query of the URL as its body. */
  post_body: (typeof POST_BODIES)[number]
  /** Where the body is checked, it must begin with one of these. */
  answers: readonly string[]
  /** Null: {signature} is Offerdeck's own. */
  signature: Recipe | null
}

/** Offerdeck's own. */
export const PLAIN: Dialect = {
  statuses: {},
  reward_decimals: null,
  payout_decimals: null,
  times: 'unix',
  transaction_id: 'event',
  ids: 'uuid',
  post_body: 'json',
  answers: ['1', 'OK', 'DUP'],
  signature: null,
}

export const isPlain = (dialect: Dialect): boolean => isDeepStrictEqual(dialect, PLAIN)

export const MAX_WORD = 40
export const MAX_ANSWERS = 10
export const MAX_REWARD_DECIMALS = 4
export const MAX_PAYOUT_DECIMALS = 6
/** An answer is compared with the first bytes of the body: this fits, whatever its letters are. */
export const MAX_ANSWER = 16
export const MAX_SECRET = 200
const PRINTABLE = /^[^\p{C}]*$/u
/** Of an amount, at most: more than that a number does not hold exactly. */
const DIGITS = 15
const SMALLEST = 0.000001

/** Whether the receiver can be told of this status; an unknown word might be credited. */
export function canSay({ statuses }: Dialect, status: string): boolean {
  return Object.keys(statuses).length === 0 || Object.hasOwn(statuses, status)
}

/** The values of the macros as the receiver expects them. */
export function translate(values: MacroValues, dialect: Dialect): MacroValues {
  if (dialect === PLAIN) return values
  const { statuses, times, ids } = dialect
  const [event, conversion] = [values.event_id, values.conversion_id].map((id) => writeId(String(id ?? ''), ids))
  const reward = writeAmount(values.reward, dialect.reward_decimals)
  return {
    ...values,
    status: statuses[values.status as Status] ?? values.status,
    reward,
    payout_local: reward,
    payout: writeAmount(values.payout, dialect.payout_decimals),
    timestamp: writeTime(Number(values.timestamp), times),
    event_id: event ?? '',
    conversion_id: conversion ?? '',
    transaction_id: (dialect.transaction_id === 'event' ? event : conversion) ?? '',
  }
}

/** Cut off, not rounded: never more than was promised, and a reversal takes back what its approval gave. */
function writeAmount(value: MacroValues['reward'], decimals: number | null): string {
  const amount = Number(Math.abs(Number(value)).toPrecision(DIGITS))
  const [whole = '', rest = ''] = String(amount < SMALLEST ? 0 : amount).split('.') // below, there would be an exponent
  const kept = decimals === null ? rest : rest.padEnd(decimals, '0').slice(0, decimals)
  const isZero = !/[1-9]/.test(whole + kept)
  return `${Number(value) < 0 && !isZero ? '-' : ''}${whole}${kept === '' ? '' : `.${kept}`}`
}

function writeTime(seconds: number, times: Dialect['times']): string {
  if (times === 'unix') return String(seconds)
  if (times === 'unix_ms') return String(seconds * 1_000)
  const iso = new Date(seconds * 1_000).toISOString().replace('.000', '')
  return times === 'iso' ? iso : iso.replace('T', ' ').replace('Z', '')
}

/** For receivers that accept digits alone: 63 bits, which fit their BIGINT columns, and are the same each time. */
function writeId(id: string, format: Dialect['ids']): string {
  if (format === 'uuid') return id
  return String(createHash('sha256').update(id).digest().readBigUInt64BE() >> 1n)
}

/** Whether a body that begins like this is an expected answer. */
export function isExpected({ answers }: Dialect, bodyStart: string): boolean {
  const text = bodyStart.trimStart().toLowerCase() // also without a byte order mark
  return answers.some((answer) => text.startsWith(answer.toLowerCase()))
}

/** As in: OK or DUP. */
export const listAnswers = ({ answers }: Dialect): string => new Intl.ListFormat('en-GB', { type: 'disjunction' }).format(answers) // prettier-ignore

/** Problems prevent saving; warnings are shown. */
export function checkDialect(dialect: Dialect, secret: string | null): { problems: Problem[]; warnings: string[] } {
  const problems: Problem[] = []
  const say = (field: string, message: string) => problems.push({ field: `dialect.${field}`, message })
  for (const [status, word] of Object.entries(dialect.statuses))
    if (word.trim() === '' || word.length > MAX_WORD || !PRINTABLE.test(word))
      say(`statuses.${status}`, `The word for ${status} must have 1 to ${MAX_WORD} printable characters.`)
  const { answers } = dialect
  if (answers.length === 0 || answers.length > MAX_ANSWERS) say('answers', `Enter 1 to ${MAX_ANSWERS} answers.`)
  if (
    answers.some(
      (answer) =>
        answer.trim() === '' || answer.trim() !== answer || answer.length > MAX_ANSWER || !PRINTABLE.test(answer),
    )
  )
    // prettier-ignore
    say('answers', `An answer must have 1 to ${MAX_ANSWER} printable characters, without spaces around them.`)
  const isCount = (count: number | null, most: number) => count === null || (Number.isInteger(count) && count >= 0 && count <= most) // prettier-ignore
  if (!isCount(dialect.reward_decimals, MAX_REWARD_DECIMALS))
    say('reward_decimals', `The decimals of {reward} must be from 0 to ${MAX_REWARD_DECIMALS}.`)
  if (!isCount(dialect.payout_decimals, MAX_PAYOUT_DECIMALS))
    say('payout_decimals', `The decimals of {payout} must be from 0 to ${MAX_PAYOUT_DECIMALS}.`)
  if (dialect.signature === null) return { problems, warnings: [] }
  const recipe = checkRecipe(dialect.signature)
  for (const { field, message } of recipe.problems) say(`signature.${field}`, message)
  const missing = checkSecret(secret)
  if (missing !== null) problems.push({ field: 'receiver_secret', message: missing })
  return { problems, warnings: recipe.warnings }
}

function checkSecret(secret: string | null): string | null {
  if (secret === null || secret === '') return 'Enter the secret that your server checks signatures with.'
  if (secret.length <= MAX_SECRET && PRINTABLE.test(secret)) return null
  return `The receiver's secret must have at most ${MAX_SECRET} printable characters.`
}
