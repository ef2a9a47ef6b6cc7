// Gives the OpenAPI description its components: schemas (named-schemas.ts), and the parameters, responses and security
// that operations have in common.
import { readFileSync } from 'node:fs'
import { projectPath } from '../lib/project.ts'
import { isNode, mapValues, nameSchemas, type Node, refTo, type Schemas } from './named-schemas.ts'
import { shareProperties } from './shared-properties.ts'

type Operation = Node & { operationId: string; tags: string[]; responses: Record<string, Node> } & {
  parameters?: Node[]
  security?: Security
}
type Security = Record<string, string[]>[]
type Paths = Record<string, Record<string, Operation>>
export type Description = {
  info: { title: string; description: string }
  tags: { name: string; description: string }[]
  security: Security
  paths: Paths
  components: Record<string, Record<string, object>>
}

export function nameComponents(document: Description): Description {
  const { whole: paths, schemas: named } = nameSchemas(document.paths)
  const operations = operationsOf(paths)
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
  const schemas = byName(withExamples(shareProperties(named), examples))
  const shared = { schemas, parameters: parameters.components(), responses: responses.components() }
  return shareSecurity({ ...document, paths, components: { ...document.components, ...shared } })
}

const operationsOf = (paths: Paths) => Object.values(paths).flatMap((methods) => Object.values(methods))

/** What most operations need is said once, for all. */
export function shareSecurity(document: Description): Description {
  const textOf = ({ security = document.security }: Operation) => JSON.stringify(security)
  const uses = Map.groupBy(operationsOf(document.paths), textOf)
  const [usual = ''] = [...uses].toSorted(([, a], [, b]) => b.length - a.length)[0] ?? []
  const paths = mapValues(document.paths, (methods) =>
    mapValues(methods, (operation) => {
      const { security: _, ...rest } = operation
      const text = textOf(operation)
      return (text === usual ? rest : { ...rest, security: JSON.parse(text) as Security }) as Operation
    }),
  )
  return { ...document, security: JSON.parse(usual) as Security, paths }
}

type Examples = Record<string, Record<string, unknown>>

/**
 * By operation and status, errors by their name; answers of the management API by the name of what is in them. Two tests
 * compare them with what the app answers.
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
    const name = responseName(response) ?? ''
    const error = name.endsWith('Error') ? Object.values(examples[name] ?? {})[0] : undefined
    const example = examples[operationId]?.[status] ?? error
    if (json !== undefined && example !== undefined) json.example = example
  }
}

/** What is in an answer stands at its schema: the envelope around it is always the same. */
const withExamples = (schemas: Schemas, examples: Examples): Schemas =>
  mapValues(schemas, (schema, name) => {
    const answer = examples[name]?.['200']
    return isNode(answer) && 'data' in answer ? { ...schema, examples: [answer['data']] } : schema
  })

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
    return isShared ? refTo(this.#kind, name) : part
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
