// The shapes of signing up.
import { Type } from 'typebox'
import { MAX_QUESTIONS, ShownTerms, SignUpQuestion } from '../../features/accounts/sign-up/schema.ts'
import { shape } from '../../http/shape.ts'
import { SAFE_TEXT } from '../../http/validation.ts'
import { orNull, text } from '../shapes.ts'

const Password = Type.String({ minLength: 1, maxLength: 128 })

const Answer = Type.String({
  maxLength: 5_000,
  format: SAFE_TEXT,
  description: 'Answer; may be empty if it is not required.',
})

export const SignUpForm = shape('SignUpForm', {
  is_open: Type.Boolean({ description: 'Whether the network accepts sign-ups. If not, there are no questions.' }),
  intro: Type.String(),
  terms: orNull(ShownTerms),
  questions: Type.Array(SignUpQuestion),
})

export const SignUp = shape('SignUp', {
  name: text(200, 'Name of the person.'),
  email: text(254),
  password: Password,
  company: text(180),
  website: text(500),
  terms_version: Type.Optional(orNull(text(40, 'Version of the terms that the applicant accepts.'))),
  terms_hash: Type.Optional(
    orNull(text(100, 'The `hash` of the terms that were shown. Required with a version: other terms are refused.')),
  ),
  answers: Type.Optional(
    Type.Array(Type.Object({ question_id: text(40), answer: Answer }), { maxItems: MAX_QUESTIONS }),
  ),
})

export const SignUpToken = shape('SignUpToken', { token: text(200) })
export const OpenSignUp = shape('OpenSignUp', {
  name: Type.String(),
  email: Type.String(),
  company: Type.String(),
})
export const FinishSignUp = shape('FinishSignUp', { token: text(200), password: Password })
export const AcceptTerms = shape('AcceptTerms', {
  version: text(40, 'Version of the terms that you accept.'),
  hash: text(100, 'The `hash` of the terms that you read.'),
})
