// What the operator sets for sign-up: whether it is open, what is asked, which terms of service hold.
import { type Static, Type } from 'typebox'
import { oneOf, shape } from '../../../http/shape.ts'
import { LINE, SAFE_TEXT } from '../../../http/validation.ts'

export const QUESTION_KINDS = ['text', 'long_text', 'choice', 'url'] as const
export const MAX_QUESTIONS = 20

/** Sent and returned alike. */
const EXACT = { additionalProperties: false }
const line = (maxLength: number, description?: string) =>
  Type.String({ minLength: 1, maxLength, format: LINE, ...(description === undefined ? {} : { description }) })
const text = (maxLength: number, description: string) => Type.String({ maxLength, format: SAFE_TEXT, description })
const orNull = <T extends ReturnType<typeof Type.String>>(schema: T) => Type.Union([schema, Type.Null()])

export const SignUpQuestion = shape(
  'SignUpQuestion',
  {
    question_id: Type.String({
      pattern: '^[a-z0-9-]{1,40}$',
      description: 'Any word that no other question has: answers name it.',
    }),
    label: line(200),
    kind: oneOf(QUESTION_KINDS),
    is_required: Type.Boolean(),
    choices: Type.Array(line(100), { maxItems: 50, description: 'For the kind choice, two or more.' }),
  },
  EXACT,
)
export type SignUpQuestion = Static<typeof SignUpQuestion>

export const ServiceTerms = shape(
  'ServiceTerms',
  {
    version: line(40, 'Such as a date. People who accepted another version are asked again.'),
    url: orNull(line(500, 'Where they are published.')),
    text: orNull(text(50_000, 'Or the terms themselves.')),
  },
  EXACT,
)
export type ServiceTerms = Static<typeof ServiceTerms>

const SETTINGS = {
  is_open: Type.Boolean({ description: 'Whether publishers can sign up. Needs a mail server.' }),
  intro: text(1_000, 'Shown above the form.'),
  terms: Type.Union([ServiceTerms, Type.Null()], { description: 'Terms of service that applicants must accept.' }),
  questions: Type.Array(SignUpQuestion, { maxItems: MAX_QUESTIONS }),
  blocked_domains: Type.Array(line(253), {
    maxItems: 500,
    description: 'Email addresses of these domains, and of domains below them, are refused.',
  }),
  per_hour: Type.Integer({ minimum: 1, maximum: 1_000, description: 'How many sign-ups are accepted in an hour.' }),
}

export const SignUpSettings = shape('SignUpSettings', SETTINGS, EXACT)
export type SignUpSettings = Static<typeof SignUpSettings>

export const NewSignUpSettings = shape(
  'NewSignUpSettings',
  {
    ...SETTINGS,
    version: Type.Optional(
      line(100, 'The version that was shown. If the settings changed since, nothing is saved: 409.'),
    ),
  },
  EXACT,
)
export type NewSignUpSettings = Static<typeof NewSignUpSettings>

export const DEFAULTS: SignUpSettings = {
  is_open: false,
  intro: '',
  terms: null,
  questions: [],
  blocked_domains: [],
  per_hour: 60,
}
