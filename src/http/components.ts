// Gives the OpenAPI description its components. A schema with a title is written once, under that name, and referred to
// wherever it is used; parameters and responses that operations have in common are written once, too.
import { isDeepStrictEqual } from 'node:util'
import { readFileSync } from 'node:fs'
import { projectPath } from '../lib/project.ts'

type Node = Record<string, unknown>
type Operation = Node & { operationId: string; tags: string[] } & {
  parameters?: Node[]
  responses: Record<string, Node>
}
type Paths = Record<string, Record<string, Operation>>
export type Description = {
  info: { title: string; description: string }
  tags: { name: string; description: string }[]
  security: object[]
  paths: Paths
  components: Record<string, Record<string, object>>
}

/** Values, not schemas: a title in there is data. */
const VALUES = new Set(['example', 'examples', 'default', 'enum', 'const'])

/** Others are the validator's own, and mean nothing to a client: the description says what is meant. */
const FORMATS = new Set(['date-time', 'date', 'uri', 'email'])

const isNode = (value: unknown): value is Node => typeof value === 'object' && value !== null && !Array.isArray(value)

export function nameComponents(document: Description): Description {
  const { schemas, paths } = nameSchemas(document.paths)
  const operations = Object.values(paths).flatMap((methods) => Object.values(methods))
  const parameters = new Shared('parameters', parameterName)
  const responses = new Shared('responses', responseName)
  const examples = readExamples()
  for (const operation of operations) {
    addExamples(operation, examples)
    for (const key of Object.keys(operation)) if (key.startsWith('x-')) delete operation[key] // for our own tests
    for (const parameter of operation.parameters ?? []) {
      if (parameter['required'] === false) delete parameter['required'] // what it is without it
      parameters.count(parameter)
    }
    for (const response of Object.values(operation.responses)) responses.count(response)
  }
  for (const operation of operations) {
    if (operation.parameters) operation.parameters = operation.parameters.map((one) => parameters.refer(one))
    operation.responses = mapValues(operation.responses, (response) => responses.refer(response))
  }
  const shared = { parameters: parameters.components(), responses: responses.components() }
  return { ...document, paths, components: { ...document.components, schemas, ...shared } }
}

function nameSchemas(paths: Paths): { schemas: Record<string, object>; paths: Paths } {
  const schemas: Record<string, object> = {}
  function name(value: unknown): unknown {
    if (Array.isArray(value)) return value.map(name)
    if (!isNode(value)) return value
    const { title, ...schema } = mapValues(value, (part, key) => (VALUES.has(key) ? part : name(part)))
    if (typeof schema['format'] === 'string' && !FORMATS.has(schema['format'])) delete schema['format']
    if (typeof title !== 'string') return joinNull(title === undefined ? schema : { ...schema, title })
    const before = (schemas[title] ??= schema)
    if (!isDeepStrictEqual(before, schema))
      throw new Error(`Two schemas are called ${title}: ${JSON.stringify(before)} and ${JSON.stringify(schema)}`)
    return { $ref: `#/components/schemas/${title}` }
  }
  return { paths: name(paths) as Paths, schemas: byName(schemas) }
}

type Examples = Record<string, Record<string, unknown>>

/**
 * By operation and status; errors, and replies of the management API, by the name of what is in them. Two tests compare
 * them with what the app answers.
 */
const readExamples = (): Examples =>
  Object.assign(
    {},
    ...['examples.json', 'manage-examples.json'].map(
      (name) => JSON.parse(readFileSync(projectPath(`src/http/${name}`), 'utf8')) as Examples,
    ),
  ) as Examples

function addExamples({ operationId, responses }: Operation, examples: Examples): void {
  for (const [status, response] of Object.entries(responses)) {
    const json = (response as Reply).content?.['application/json']
    const named = Object.values(examples[responseName(response) ?? ''] ?? {})[0]
    const example = examples[operationId]?.[status] ?? named
    if (json !== undefined && example !== undefined) json.example = example
  }
}

/** As OpenAPI 3.1 writes it: a string or null has the type ["string", "null"]. */
function joinNull(schema: Node): Node {
  const { anyOf, ...rest } = schema
  if (!Array.isArray(anyOf) || anyOf.length !== 2) return schema
  const [{ type, enum: values, ...first }, second] = anyOf as [Node, Node]
  if (typeof type !== 'string' || values !== undefined || JSON.stringify(second) !== '{"type":"null"}') return schema
  return { type: [type, 'null'], ...first, ...rest }
}

/** What several operations have in common. Of several of one name, the most used has it and the others stay in place. */
class Shared {
  readonly #kind: string
  readonly #nameOf: (part: Node) => string | null
  readonly #uses = new Map<string, number>()
  #chosen: Map<string, Node> | null = null

  constructor(kind: string, nameOf: (part: Node) => string | null) {
    this.#kind = kind
    this.#nameOf = nameOf
  }

  count(part: Node): void {
    const text = JSON.stringify(part)
    this.#uses.set(text, (this.#uses.get(text) ?? 0) + 1)
  }

  refer(part: Node): Node {
    const name = this.#nameOf(part)
    const isShared = name !== null && JSON.stringify(this.#choose().get(name)) === JSON.stringify(part)
    return isShared ? { $ref: `#/components/${this.#kind}/${name}` } : part
  }

  components = () => byName(Object.fromEntries(this.#choose()))

  #choose(): Map<string, Node> {
    if (this.#chosen !== null) return this.#chosen
    const chosen = new Map<string, Node>()
    for (const [text, uses] of [...this.#uses].toSorted(([, a], [, b]) => b - a)) {
      const part = JSON.parse(text) as Node
      const name = this.#nameOf(part)
      if (uses > 1 && name !== null && !chosen.has(name)) chosen.set(name, part)
    }
    return (this.#chosen = chosen)
  }
}

/** app_id is AppId, and AppIdInPath in a path, where it means something else. */
const parameterName = ({ name, in: place }: Node) =>
  String(name).replaceAll(/(?:^|[_-])(\w)/g, (_, letter: string) => letter.toUpperCase()) +
  (place === 'path' ? 'InPath' : '')

type Reply = {
  content?: {
    'application/json'?: { example?: unknown; schema?: Node & { allOf?: { properties?: { data?: Node } }[] } }
  }
}

/** After the error that it is, or the data in it. */
function responseName(response: Node): string | null {
  const schema = (response as Reply).content?.['application/json']?.schema
  const name = schema?.['$ref'] ?? schema?.allOf?.at(-1)?.properties?.data?.['$ref']
  return typeof name === 'string' ? (name.split('/').at(-1) ?? null) : null
}

const byName = <T>(node: Record<string, T>): Record<string, T> =>
  Object.fromEntries(Object.entries(node).toSorted(([a], [b]) => (a < b ? -1 : 1)))

const mapValues = <T, U>(node: Record<string, T>, change: (value: T, key: string) => U): Record<string, U> =>
  Object.fromEntries(Object.entries(node).map(([key, value]) => [key, change(value, key)]))
