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
      description: 'ID of the question, unique within the form. Answers refer to it.',
    }),
    label: line(200),
    kind: oneOf(QUESTION_KINDS),
    is_required: Type.Boolean(),
    choices: Type.Array(line(100), {
      maxItems: 50,
      description: 'Choices to offer: two or more if `kind` is `choice`.',
    }),
  },
  EXACT,
)
export type SignUpQuestion = Static<typeof SignUpQuestion>

export const ServiceTerms = shape(
  'ServiceTerms',
  {
    version: line(40, 'Version of the terms, such as a date. Owners who accepted another version are asked again.'),
    url: orNull(line(500, 'URL of the published terms, if there is no text.')),
    text: orNull(text(50_000, 'Text of the terms, if there is no URL.')),
  },
  EXACT,
)
export type ServiceTerms = Static<typeof ServiceTerms>

export const ShownTerms = shape('ShownTerms', {
  ...ServiceTerms.properties,
  hash: Type.String({ description: 'Hash of these terms. Send it when they are accepted: it says what was shown.' }),
})
export type ShownTerms = Static<typeof ShownTerms>

const SETTINGS = {
  is_open: Type.Boolean({ description: 'Whether publishers can sign up. Needs a mail server.' }),
  intro: text(1_000, 'Text above the sign-up form.'),
  terms: Type.Union([ServiceTerms, Type.Null()], { description: 'Terms of service that applicants must accept.' }),
  questions: Type.Array(SignUpQuestion, { maxItems: MAX_QUESTIONS }),
  blocked_domains: Type.Array(line(253), {
    maxItems: 500,
    description: 'Email addresses at these domains and their subdomains are refused.',
  }),
  per_hour: Type.Integer({ minimum: 1, maximum: 1_000, description: 'Maximum number of sign-ups per hour.' }),
}

export const SignUpSettings = shape('SignUpSettings', SETTINGS, EXACT)
export type SignUpSettings = Static<typeof SignUpSettings>

export const NewSignUpSettings = shape(
  'NewSignUpSettings',
  {
    ...SETTINGS,
    version: Type.Optional(
      line(100, 'The `version` you read. If the settings have changed since, nothing is saved (409).'),
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
