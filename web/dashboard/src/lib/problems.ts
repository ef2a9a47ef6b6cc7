// What is wrong with a form, in the words of the page: each problem at its input, the rest by the label of its field.
import type { ApiError, Details } from './api.ts'

/** Sorted by the inputs of the form, which carry the names of their fields (`data-path`). */
export function sortProblems({ details, message }: ApiError, form: HTMLFormElement): [Details, string | null] {
  const atInputs: Details = {}
  const rest: string[] = []
  for (const [path, problem] of Object.entries(details)) {
    const input = inputOf(form, path)
    const text = inWords(withSubject(path, problem, labelOf(form, input ?? path)), form)
    if (input === null) rest.push(text)
    else atInputs[input] ??= text
  }
  if (Object.keys(details).length === 0) rest.push(message)
  return [atInputs, rest.length === 0 ? null : rest.join(' ')]
}

/** For whatever has no form, such as a notification. */
export const describeProblems = ({ details, message }: ApiError): string => {
  const problems = Object.entries(details).map(([path, text]) => inWords(withSubject(path, text, wordsOf(path))))
  return problems.length === 0 || problems.includes(message) ? message : problems.join(' ')
}

/** What the browser itself finds wrong: all of it, where its own message would name the first. */
export function findInvalid(form: HTMLFormElement, isFault = ({ valid }: ValidityState) => !valid): Details {
  const found: Details = {}
  for (const element of form.querySelectorAll<HTMLElement>('[data-path]')) {
    const input = element.matches('input, textarea') ? element : element.querySelector('input, textarea')
    if (!(input instanceof HTMLInputElement || input instanceof HTMLTextAreaElement)) continue
    const { willValidate, validity } = input
    if (willValidate && isFault(validity)) found[element.dataset['path'] ?? ''] = explain(input)
  }
  return found
}

function explain({ validity, type, validationMessage }: HTMLInputElement | HTMLTextAreaElement): string {
  if (validity.valueMissing) return 'Required.'
  // The browser gives a date that is half typed as none at all.
  if (validity.badInput) return type === 'date' ? 'Enter a complete date.' : 'Enter a complete date and time.'
  if (validity.typeMismatch && type === 'email') return 'Enter an email address such as name@example.com.'
  return validationMessage
}

/** The first input with a problem, below the header of the page. */
export function showFirstProblem(form: HTMLFormElement): void {
  const input = form.querySelector<HTMLElement>('[aria-invalid=true]')
  input?.focus({ preventScroll: true })
  const shown =
    input?.closest('.mantine-InputWrapper-root') ?? form.querySelector('.mantine-InputWrapper-error, [role=alert]') // prettier-ignore
  shown?.scrollIntoView({ block: 'nearest' })
}

/** The field itself, or the list that it is an item of. */
function inputOf(form: HTMLFormElement, path: string): string | null {
  const parts = path.split('.')
  while (parts.length > 0) {
    const name = parts.join('.')
    if (find(form, name) !== null) return name
    parts.pop()
  }
  return null
}

const find = (form: HTMLFormElement, name: string) => form.querySelector(`[data-path="${CSS.escape(name)}"]`)

function labelOf(form: HTMLFormElement | undefined, path: string): string {
  const input = form === undefined ? null : find(form, path)
  const label = input?.closest('.mantine-InputWrapper-root')?.querySelector('.mantine-InputWrapper-label')
  return label?.firstChild?.textContent?.replace(/[,(].*/, '').trim() ?? wordsOf(path)
}

/** Of goals.1.payout_percent: Goals 2 payout percent. */
function wordsOf(path: string): string {
  const parts = path.split('.').map((part) => (/^\d+$/.test(part) ? String(Number(part) + 1) : part))
  return capitalize(parts.join(' ').replaceAll('_', ' '))
}

/** Sentences of the server begin with the name of the field. */
function withSubject(path: string, problem: string, subject: string): string {
  const name = [path, path.split('.').at(-1)].find((one) => problem.toLowerCase().startsWith(`${one} `))
  return name === undefined ? problem : `${subject}${problem.slice(name.length)}`
}

/** Names of other fields, as in "ends_at must be later than starts_at". Macros and what is quoted stay. */
const inWords = (text: string, form?: HTMLFormElement) =>
  text.replaceAll(/(?<![\w{"“/.:-])[a-z]+(?:_[a-z\d]+)+(?![\w}"”:])/g, (name) => {
    const label = labelOf(form, name)
    return text.startsWith(name) ? label : label.charAt(0).toLowerCase() + label.slice(1)
  })

const capitalize = (text: string) => text.charAt(0).toUpperCase() + text.slice(1)
