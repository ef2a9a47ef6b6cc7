// The shape of dialects, as they are given and shown.
import { type Static, Type } from 'typebox'
import { oneOf } from '../../http/shape.ts'
import { compileValidator, LINE } from '../../http/validation.ts'
import { InvalidInput, type AppError } from '../../errors.ts'
import {
  type Dialect,
  ID_FORMATS,
  MAX_ANSWERS,
  MAX_PAYOUT_DECIMALS,
  MAX_REWARD_DECIMALS,
  MAX_WORD,
  PLAIN,
  POST_BODIES,
  TIMES,
  TRANSACTION_IDS,
} from './dialect.ts'
import { ALGORITHMS, ENCODINGS } from '../../lib/signatures.ts'
import { MAX_RECIPE_LENGTH } from './recipe.ts'

const EXACT = { additionalProperties: false }
const word = Type.Optional(Type.String({ minLength: 1, maxLength: MAX_WORD, format: LINE }))
const decimals = (maximum: number, of: string) =>
  Type.Union([Type.Integer({ minimum: 0, maximum }), Type.Null()], {
    description: `Exact number of decimals of {${of}}, cut off rather than rounded; null for as many as needed.`,
  })

const RECIPE = {
  algorithm: oneOf(ALGORITHMS, { description: 'md5 and sha1 are weak.' }),
  of: Type.String({
    maxLength: MAX_RECIPE_LENGTH,
    format: LINE,
    description:
      'Text to hash, with macros: {secret} is the secret of the receiver, {sorted_query} all parameters sorted by name.',
  }),
  encoding: oneOf(ENCODINGS),
  header: Type.Union([Type.String({ maxLength: 100, format: LINE }), Type.Null()], {
    description: 'Header for the signature; null to use {signature} in the URL.',
  }),
}

const DIALECT = {
  statuses: Type.Object(
    { pending: word, approved: word, rejected: word, reversed: word },
    { ...EXACT, description: 'Your word for each status. If you set any, only statuses with a word are sent.' },
  ),
  reward_decimals: decimals(MAX_REWARD_DECIMALS, 'reward'),
  payout_decimals: decimals(MAX_PAYOUT_DECIMALS, 'payout'),
  times: oneOf(TIMES, { description: 'Format of {timestamp}. `sql` is 2026-11-15 07:56:25, in UTC.' }),
  transaction_id: oneOf(TRANSACTION_IDS, {
    description: 'Value of {transaction_id}. With `conversion`, a reversal repeats the ID of the approval.',
  }),
  ids: oneOf(ID_FORMATS, { description: 'With `number`, event and conversion IDs are numbers of up to 19 digits.' }),
  post_body: oneOf(POST_BODIES, {
    description: 'With `form`, a POST sends the query of the URL as a form instead of JSON.',
  }),
  answers: Type.Array(Type.String({ maxLength: 100, format: LINE }), {
    maxItems: MAX_ANSWERS,
    description: 'If `success` is `body`, the response body must begin with one of these, in any case.',
  }),
}

/** A dialect as it is shown: every field. */
export const DialectShape = Type.Object(
  { ...DIALECT, signature: Type.Union([Type.Object(RECIPE), Type.Null()]) },
  { title: 'PostbackDialect' },
)

/** A dialect as it is given. What is left out is as Offerdeck has it. */
export const NewDialect = Type.Object(
  {
    ...Object.fromEntries(Object.entries(DIALECT).map(([name, one]) => [name, Type.Optional(one)])) as { [K in keyof typeof DIALECT]: ReturnType<typeof Type.Optional<(typeof DIALECT)[K]>> }, // prettier-ignore
    signature: Type.Optional(
      Type.Union([
        Type.Object({ ...RECIPE, encoding: Type.Optional(RECIPE.encoding), header: Type.Optional(RECIPE.header) }, EXACT), // prettier-ignore
        Type.Null(),
      ]),
    ),
  },
  { ...EXACT, title: 'NewPostbackDialect' },
)
export type NewDialect = Static<typeof NewDialect>

export function completeDialect({ signature, ...given }: NewDialect): Dialect {
  return {
    ...PLAIN,
    ...given,
    signature: signature ? { encoding: 'hex', header: null, ...signature } : null,
  }
}

const validate = compileValidator({ schema: NewDialect, httpPart: 'body', method: '', url: '' })

/** From a file. */
export function readDialect(given: unknown): Dialect {
  const { error } = validate(given) as { error?: AppError }
  if (error === undefined) return completeDialect(given as NewDialect)
  const problems = Object.entries(error.details ?? {}).map(([field, message]) => ({
    field: `dialect.${field}`,
    message: message.replace('is not a parameter of this endpoint', 'is not a field of a dialect'),
  }))
  throw new InvalidInput(problems)
}
