// Where a value stands in an upstream's answer: `relationship.payouts.entries[is_default].payout_amount`.
//
//   a.b             b within a
//   a[]             each of a list, or of the values of an object: some upstreams write one for the other
//   a[b], a[!b]     those of them with, or without, a b that says something
//   a[b=x], a[b!=x] those whose b is, or is not, x
//   a[b=x&c=y]      those of which both holds
//   a~              the names of an object
//   $key            of an item in an object: its name there; $value: itself, where it is a plain value

type Where = { name: string; is: string | null; isNegated: boolean }
type Step = { kind: 'name'; name: string } | { kind: 'each'; where: Where[] } | { kind: 'names' }
export type Path = readonly Step[]

const NAME = String.raw`[\w$-]+`
const WHERE = new RegExp(String.raw`^(!?)(${NAME})(?:(!?)=(.*))?$`)
/** Before another condition, not within what something is: `Health & Beauty`. */
const BETWEEN = new RegExp(`&(?=!?${NAME}!?=|!${NAME}$)`)
const PART = new RegExp(String.raw`^(${NAME})((?:\[[^\]]*\])*)(~?)$`)

const parsed = new Map<string, Path | string>()

/** The path, or what is wrong with it, as a sentence. */
export function parsePath(text: string): Path | string {
  const known = parsed.get(text) ?? parse(text)
  if (parsed.size < 10_000) parsed.set(text, known)
  return known
}

function parse(text: string): Path | string {
  const steps: Step[] = []
  const parts = text === '' ? [] : splitParts(text)
  if (parts.join('.') !== text) return `"${text}" has a bracket that is not closed, or one too many.`
  for (const [i, part] of parts.entries()) {
    const root = i === 0 && part.startsWith('[') ? `$root${part}` : part // the answer itself is a list
    const [, name = '', brackets = '', names = ''] = PART.exec(root) ?? []
    if (name === '') return `"${part}" is not a name, such as offers, offers[], offers[status=active] or countries~.`
    if (name !== '$root') steps.push({ kind: 'name', name })
    for (const [, inside = ''] of brackets.matchAll(/\[([^\]]*)\]/g)) {
      const where = inside === '' ? [] : inside.split(BETWEEN).map(readWhere)
      if (where.includes(undefined)) return `"[${inside}]" is not a condition, such as [paid], [!paid], [type=cpa] or [type!=cpa].` // prettier-ignore
      steps.push({ kind: 'each', where: where.filter((one) => one !== undefined) })
    }
    if (names !== '') steps.push({ kind: 'names' })
  }
  return steps
}

/** At the dots that are not within brackets. */
const splitParts = (text: string) => text.match(/(?:\[[^\]]*\]|[^.[\]])+|(?<=\.)(?=\.|$)/g) ?? [text]

function readWhere(inside: string): Where | undefined {
  const [, absent = '', name = '', not, is] = WHERE.exec(inside) ?? []
  if (name === '' || (absent !== '' && is !== undefined)) return undefined
  return { name, is: is ?? null, isNegated: absent !== '' || not === '!' }
}

/** All that stands there: of lists, each; nothing of what is missing. */
export function readAll(text: string, from: unknown): unknown[] {
  const path = parsePath(text)
  if (typeof path === 'string') throw new TypeError(path) // mappings are checked before they are used
  let found: unknown[] = [from]
  for (const step of path) found = found.flatMap((value) => take(step, value))
  return found.filter((value) => value !== undefined && value !== null)
}

function take(step: Step, value: unknown): unknown[] {
  if (typeof value !== 'object' || value === null) return []
  if (step.kind === 'name') {
    if (!Object.hasOwn(value, step.name)) return []
    return [(value as Record<string, unknown>)[step.name]]
  }
  if (step.kind === 'names') return Array.isArray(value) ? [] : Object.keys(value)
  const { where } = step
  const all = eachOf(value)
  return where.length === 0 ? all : all.filter((one) => where.every((each) => fits(one, each)))
}

/** Of a list, its items; of an object, its values, each with its name as `$key`. */
export function eachOf(value: unknown): unknown[] {
  if (Array.isArray(value)) return value
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).map(([$key, one]) =>
    typeof one === 'object' && one !== null && !Array.isArray(one) ? { $key, ...one } : one,
  )
}

/** The same, but a plain value has its name, too: as `$value` beside its `$key`. */
export function readRows(text: string, from: unknown): unknown[] {
  const rowOf = ($value: unknown, more: object) => (typeof $value === 'object' ? $value : { ...more, $value })
  return readAll(text, from).flatMap((value) => {
    if (Array.isArray(value) || typeof value !== 'object' || value === null) return eachOf(value).map((one) => rowOf(one, {})) // prettier-ignore
    return Object.entries(value).map(([$key, one]) => (typeof one === 'object' ? eachOf({ [$key]: one as object })[0] : rowOf(one, { $key }))) // prettier-ignore
  })
}

function fits(one: unknown, { name, is, isNegated }: Where): boolean {
  const value = take({ kind: 'name', name }, one)[0]
  const isFound = is === null ? isSaid(value) : sameText(value, is)
  return isFound !== isNegated
}

/** Neither missing, empty, zero nor false, in whichever of the ways to write that. */
export const isSaid = (value: unknown): boolean =>
  value !== undefined && value !== null && !['', '0', 'false', 'no'].includes(scalarText(value).trim().toLowerCase())

export const sameText = (value: unknown, text: string): boolean =>
  scalarText(value).trim().toLowerCase() === text.trim().toLowerCase()

/** A number or a truth as it would be written; empty for what is neither these nor text. */
export const scalarText = (value: unknown): string =>
  typeof value === 'string' ? value : ['number', 'boolean', 'bigint'].includes(typeof value) ? String(value) : ''

/** The same answer with this list replaced by some of its items. */
export function withList(from: unknown, text: string, items: readonly unknown[]): unknown {
  const path = parsePath(text)
  if (typeof path === 'string') throw new TypeError(path)
  const names = path.flatMap((step) => (step.kind === 'name' ? step.name : []))
  const put = (value: unknown, [name, ...rest]: string[]): unknown => {
    if (name === undefined) return items
    const object = (typeof value === 'object' && value !== null ? value : {}) as Record<string, unknown>
    return { ...object, [name]: put(object[name], rest) }
  }
  return put(from, names)
}
