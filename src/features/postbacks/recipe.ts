// Signature recipes: how a receiver that was written for another network checks where a postback comes from. A recipe is
// a hash of a text, which is written like a URL template: macros, constants and {secret} in any order. In it, values
// are as the receiver reads them from the request, not percent-encoded.
import type { Problem } from '../../errors.ts'
import { type HashKind, signText, sortQuery } from '../../lib/signatures.ts'
import { checkHeaderName } from './headers.ts'
import { MACRO, type MacroValues, MACROS, nearestName, textOf } from './template.ts'

export type Recipe = HashKind & {
  /** The text that is hashed, such as {user_id}:{reward}:{secret}. The secret is the key of an HMAC. */
  of: string
  /** A header to send it in; null: it is where {signature} is in the URL. */
  header: string | null
}

/** What can be in the text of a recipe besides the macros of URLs. */
export const RECIPE_MACROS = {
  secret: 'the secret that you share with your receiver',
  sorted_query: 'all parameters but the signature, sorted by name and encoded as by `http_build_query` of PHP',
  sorted_query_rfc3986: 'the same, percent-encoded: a space is `%20`',
  sorted_query_decoded: 'the same, not encoded',
} as const

export const MAX_RECIPE_LENGTH = 500
const names = Object.keys(MACROS).filter((name) => name !== 'signature')
const known = [...names, ...Object.keys(RECIPE_MACROS)]

/** `query`: the query of the URL, without the parameter of the signature. */
export function signByRecipe(recipe: Recipe, secret: string, values: MacroValues, query: string): string {
  return signText(recipe, secret, fillRecipe(recipe.of, secret, values, query))
}

/** The text that is hashed. */
export function fillRecipe(of: string, secret: string, values: MacroValues, query: string): string {
  return of.replaceAll(MACRO, (whole, name: string) => {
    if (name === 'secret') return secret
    if (name.startsWith('sorted_query')) return sortQuery(query, name)
    return names.includes(name) ? textOf(values[name as keyof MacroValues]) : whole
  })
}

/** Problems prevent saving; warnings are shown. */
export function checkRecipe({ algorithm, of, header }: Recipe): { problems: Problem[]; warnings: string[] } {
  const problems: Problem[] = []
  const used = new Set(Array.from(of.matchAll(MACRO), ([, name = '']) => name))
  const say = (message: string, field = 'of') => problems.push({ field, message })
  for (const name of used)
    if (name === 'signature') say('{signature} cannot be part of the text that is signed.')
    else if (!known.includes(name)) say(`There is no macro {${name}}: did you mean {${nearestName(name, known)}}?`)
  if (of.length > MAX_RECIPE_LENGTH) say(`The signed text must have at most ${MAX_RECIPE_LENGTH} characters.`)
  if (!algorithm.startsWith('hmac-') && !used.has('secret'))
    say('Add {secret} to the signed text: without it, anyone could sign.')
  if (![...used].some((name) => name !== 'secret'))
    say('Add a macro such as {transaction_id} to the signed text: otherwise every postback has the same signature.')
  if (header !== null) for (const message of checkHeaderName(header)) say(message, 'header')
  return { problems, warnings: problems.length > 0 ? [] : weaknessesOf(algorithm, of, used) }
}

function weaknessesOf(algorithm: Recipe['algorithm'], of: string, used: ReadonlySet<string>): string[] {
  const warnings: string[] = []
  if (algorithm === 'md5' || algorithm === 'sha1')
    warnings.push(`${algorithm.toUpperCase()} is a weak signature: use a long random secret, and check the Standard Webhooks headers, too, if you can.`) // prettier-ignore
  if (of.startsWith('{secret}') && !algorithm.startsWith('hmac-'))
    warnings.push('With the secret first, others can append to a signed text without knowing the secret.')
  const covers = (...macros: string[]) => macros.some((name) => used.has(name)) || [...used].some((name) => name.startsWith('sorted_query')) // prettier-ignore
  if (!covers('reward', 'payout', 'payout_local'))
    warnings.push('The signature does not cover the amount: anyone who sees a postback can repeat it with another amount.') // prettier-ignore
  if (!covers('transaction_id', 'event_id', 'conversion_id'))
    warnings.push('The signature does not cover the transaction: anyone who sees a postback can repeat it with another ID.') // prettier-ignore
  return warnings
}
