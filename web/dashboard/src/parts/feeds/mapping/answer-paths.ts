// Where values stand in an answer, as paths of a mapping: the way to one that was clicked, and all that there are.

/** The way from the answer to a value. `isEach`: it is one of many of its kind, in a list or an object used as one. */
export type Step = { key: string; isEach: boolean }

/** The lists that a field reads within: none for the whole answer, that of the offers, that of an offer's goals. */
export type Lists = readonly string[]

export type Found = { path: string; value: string }

const MOST_FOUND = 300
const MOST_DEPTH = 10
const NAME = /^[\w$-]+$/

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null

/** What is below a value, in its order. */
export function stepsOf(value: unknown): { step: Step; value: unknown }[] {
  if (!isObject(value)) return []
  const isEach = isListLike(value)
  return Object.entries(value).map(([key, one]) => ({ step: { key, isEach }, value: one }))
}

/** A list, or an object whose names are IDs or country codes, or whose values look alike. */
export function isListLike(value: unknown): boolean {
  if (Array.isArray(value)) return true
  if (!isObject(value)) return false
  const all = Object.entries(value)
  if (all.length === 0 || !all.every(([, one]) => isObject(one) && !Array.isArray(one))) return false
  if (all.every(([key]) => /^(\d+|[A-Z]{2})$/.test(key))) return true
  const shapes = new Set(all.map(([, one]) => Object.keys(one as object).join()))
  return all.length > 1 && shapes.size === 1
}

/** Null: it is not within these lists, or its name cannot stand in a path. */
export function pathTo(steps: readonly Step[], lists: Lists): string | null {
  const rest = within(steps, lists)
  if (rest === null) return null
  const last = steps.at(-1)
  if (rest.length === 0) return lists.length > 0 && last !== undefined && !/^\d{1,2}$/.test(last.key) ? '$key' : null
  return write(rest)
}

/** That of the outermost list around a value, which may be the value itself. */
export function listAround(steps: readonly Step[], lists: Lists, isList: boolean): string | null {
  const rest = within(steps, lists)
  if (rest === null) return null
  const first = rest.findIndex(({ isEach }) => isEach)
  if (first === -1) return isList ? write(rest) : null
  return write(rest.slice(0, first))
}

function within(steps: readonly Step[], lists: Lists): readonly Step[] | null {
  let rest = steps
  for (const list of lists) {
    for (const part of list === '' ? [] : list.split('.')) {
      const [name = '', ...brackets] = part.split('[')
      const isNamed = name !== ''
      if (isNamed && rest[0]?.key !== name) return null
      rest = rest.slice((isNamed ? 1 : 0) + brackets.length)
    }
    if (rest.length === 0) return null
    rest = rest.slice(1) // which of them does not matter
  }
  return rest
}

function write(steps: readonly Step[]): string | null {
  if (steps.some(({ key, isEach }) => !isEach && !NAME.test(key))) return null
  return steps.map(({ key, isEach }, i) => (isEach ? '[]' : i === 0 ? key : `.${key}`)).join('')
}

/** Each path within these lists once, with the first value that says something; for lists, how many there are. */
export function findPaths(answer: unknown, lists: Lists, wantsLists: boolean): Found[] {
  const found = new Map<string, string>()
  const visit = (value: unknown, steps: readonly Step[]): void => {
    if (found.size >= MOST_FOUND || steps.length > MOST_DEPTH) return
    if (wantsLists && isListLike(value)) {
      const path = listAround(steps, lists, true)
      if (path !== null && !found.has(path)) found.set(path, sizeOf(value))
    }
    if (isObject(value)) for (const one of stepsOf(value)) visit(one.value, [...steps, one.step])
    else if (!wantsLists) note(steps, value)
  }
  const note = (steps: readonly Step[], value: unknown) => {
    const path = pathTo(steps, lists)
    if (path !== null && !found.get(path)) found.set(path, textOf(value))
  }
  visit(answer, [])
  return [...found].map(([path, value]) => ({ path, value }))
}

const sizeOf = (value: unknown) => `${Object.keys(value as object).length} entries`

export function textOf(value: unknown): string {
  if (value === null) return 'null'
  return typeof value === 'string' ? value : String(value)
}
