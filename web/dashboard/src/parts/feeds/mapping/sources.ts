// Reading and writing parts of a mapping as the form has them. What the form does not know stays as it is.

export type Json = Record<string, unknown>
export type Place = readonly (string | number)[]

/** Paths of which the first with a value counts, and what else is said about them. */
export type Source = { paths: string[]; rest: Json }

export const isJson = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** As the server names it: goals.name, caps[0].value. */
export const placeText = (place: Place): string =>
  place.map((part, i) => (typeof part === 'number' ? `[${part}]` : i === 0 ? part : `.${part}`)).join('')

export const getAt = (from: unknown, place: Place): unknown =>
  place.reduce<unknown>((value, part) => (typeof value === 'object' && value !== null ? (value as Json)[part] : undefined), from) // prettier-ignore

/** `undefined` takes it away; an entry of a list leaves no gap. */
export function setAt(from: unknown, place: Place, value: unknown): unknown {
  const [part, ...rest] = place
  if (part === undefined) return value
  if (typeof part === 'number') {
    const list = Array.isArray(from) ? [...from] : []
    const next = setAt(list[part], rest, value)
    if (next === undefined) list.splice(part, 1)
    else list[part] = next
    return list
  }
  const object = isJson(from) ? from : {}
  const next = setAt(object[part], rest, value)
  if (next !== undefined) return { ...object, [part]: next }
  const { [part]: _gone, ...others } = object
  return others
}

export function readSource(value: unknown): Source {
  if (!isJson(value)) return { paths: pathsOf(value), rest: {} }
  const { path, ...rest } = value
  return { paths: pathsOf(path), rest }
}

const pathsOf = (value: unknown): string[] =>
  (Array.isArray(value) ? value : [value]).filter((one) => typeof one === 'string')

/** As short as it can be said; nothing at all where nothing is said. `isFull`: this field is never a path alone. */
export function writeSource({ paths, rest }: Source, isFull = false): unknown {
  const said = Object.fromEntries(Object.entries(rest).filter(([, value]) => value !== undefined && value !== ''))
  const [first, ...others] = paths
  if (!isFull && Object.keys(said).length === 0 && others.length === 0) return first === undefined || first === '' ? undefined : first // prettier-ignore
  return { path: others.length === 0 && first !== undefined ? first : paths, ...said }
}

/** Paths alone, in fields of which nothing else can be said. */
export const writePaths = (paths: string[]): unknown => (paths.length > 1 ? paths : paths[0] || undefined)

export const textsOf = (value: unknown): string[] =>
  (Array.isArray(value) ? value : [value]).filter((one) => typeof one === 'string')
