// Answers to the operator's questions. They are stored with their questions: one that is changed or removed later
// leaves what was asked.
import type { Problem } from '../../../errors.ts'
import type { SignUpQuestion } from './schema.ts'

const LONGEST = { text: 200, long_text: 5_000, choice: 100, url: 500 } as const

export type GivenAnswer = { question_id: string; answer: string }
export type Answer = Pick<SignUpQuestion, 'label' | 'kind'> & { answer: string }

/** In the order of the questions. An answer to a question that was removed meanwhile is left out, and so is an empty one. */
export function readAnswers(questions: readonly SignUpQuestion[], given: readonly GivenAnswer[]) {
  const [answers, problems] = [[] as Answer[], [] as Problem[]]
  for (const question of questions) {
    const { question_id, label, kind } = question
    const answer = given.find((one) => one.question_id === question_id)?.answer.trim() ?? ''
    const message = problemOf(question, answer)
    if (message !== null) problems.push({ field: `answers.${question_id}`, message })
    else if (answer !== '') answers.push({ label, kind, answer })
  }
  return { answers, problems }
}

function problemOf({ kind, is_required, choices }: SignUpQuestion, answer: string): string | null {
  if (answer === '') return is_required ? 'Answer this question.' : null
  if (answer.length > LONGEST[kind]) return `At most ${LONGEST[kind]} characters.`
  if (kind !== 'long_text' && /\p{Cc}/u.test(answer)) return 'Write it on one line.'
  if (kind === 'choice' && !choices.includes(answer)) return 'Choose one of the answers.'
  if (kind === 'url' && !isWebUrl(answer)) return 'Enter a URL such as https://example.com.'
  return null
}

export const isWebUrl = (text: string) => URL.canParse(text) && /^https?:$/.test(new URL(text).protocol)
