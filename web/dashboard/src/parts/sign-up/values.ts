// The settings of sign-up as their form has them.
import { readWhole } from '../../lib/amounts.ts'
import type { Schemas } from '../../lib/api-types.ts'
import type { Labels } from '../../lib/statuses.ts'

export type Question = Schemas['SignUpQuestion']

export const QUESTION_KINDS: Labels<Question['kind']> = {
  text: 'Short text',
  long_text: 'Long text',
  choice: 'Choice',
  url: 'URL',
}

export const newQuestion = (): Question => ({
  question_id: crypto.randomUUID(),
  label: '',
  kind: 'text',
  is_required: false,
  choices: [],
})

export const valuesOf = ({ terms, per_hour, ...known }: Schemas['SignUpSettingsReply']) => ({
  is_open: known.is_open,
  intro: known.intro,
  questions: known.questions,
  blocked_domains: known.blocked_domains,
  version: known.version,
  per_hour: String(per_hour),
  terms: {
    kind: terms === null ? 'none' : terms.url === null ? 'text' : 'url',
    version: terms?.version ?? '',
    url: terms?.url ?? '',
    text: terms?.text ?? '',
  },
})
export type SettingsValues = ReturnType<typeof valuesOf>

export const readSettings = ({ terms, per_hour, questions, ...values }: SettingsValues) => ({
  ...values,
  per_hour: readWhole(per_hour) ?? 0,
  terms:
    terms.kind === 'none'
      ? null
      : {
          version: terms.version,
          url: terms.kind === 'url' ? terms.url : null,
          text: terms.kind === 'text' ? terms.text : null,
        },
  questions: questions.map((one) => ({ ...one, choices: one.kind === 'choice' ? one.choices : [] })),
})
