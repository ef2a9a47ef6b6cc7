// The schemas of the OpenAPI description by name: one with a title is written once, and referred to wherever it is used.
import { isDeepStrictEqual } from 'node:util'

export type Node = Record<string, unknown>
export type Schemas = Record<string, Node>

/** Values, not schemas: a title in there is data. */
const VALUES = new Set(['example', 'examples', 'default', 'enum', 'const'])

/** Others are the validator's own, and mean nothing to a client: the description says what is meant. */
const FORMATS = new Set(['date-time', 'date', 'uri', 'email'])

export const isNode = (value: unknown): value is Node =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

export const mapValues = <T, U>(node: Record<string, T>, change: (value: T, key: string) => U): Record<string, U> =>
  Object.fromEntries(Object.entries(node).map(([key, value]) => [key, change(value, key)]))

/** The parts of a schema, but not the values in it. */
export const mapParts = (schema: Node, change: (part: unknown) => unknown): Node =>
  mapValues(schema, (part, key) => (VALUES.has(key) ? part : change(part)))

export const refTo = (kind: string, name: string) => ({ $ref: `#/components/${kind}/${name}` })

/** The same with references, and what they refer to. */
export function nameSchemas<T>(whole: T): { whole: T; schemas: Schemas } {
  const schemas: Schemas = {}
  function name(value: unknown): unknown {
    if (Array.isArray(value)) return value.map(name)
    if (!isNode(value)) return value
    const { title, ...schema } = mapParts(value, name)
    if (typeof schema['format'] === 'string' && !FORMATS.has(schema['format'])) delete schema['format']
    if (typeof title !== 'string') return joinTypes(title === undefined ? schema : { ...schema, title })
    const before = (schemas[title] ??= schema)
    if (!isDeepStrictEqual(before, schema))
      throw new Error(`Two schemas are called ${title}: ${JSON.stringify(before)} and ${JSON.stringify(schema)}`)
    return refTo('schemas', title)
  }
  return { whole: name(whole) as T, schemas }
}

/** As OpenAPI 3.1 writes it: a string or null has the type ["string", "null"]. */
function joinTypes(schema: Node): Node {
  const { anyOf, ...rest } = schema
  if (!Array.isArray(anyOf)) return schema
  const joined: Node = { type: (anyOf as Node[]).flatMap(({ type }) => type) }
  for (const { type, ...only } of anyOf as Node[]) {
    // What is said of one type does not touch another, but for its values.
    if (type === undefined || Object.keys(only).some((key) => key in joined || key === 'const')) return schema
    if (only['enum'] !== undefined && !isOrNull(anyOf)) return schema
    Object.assign(joined, only)
  }
  if (Array.isArray(joined['enum'])) joined['enum'] = [...(joined['enum'] as unknown[]), null]
  return { ...joined, ...rest }
}

const isOrNull = (choices: Node[]) => choices.length === 2 && choices[1]?.['type'] === 'null'
