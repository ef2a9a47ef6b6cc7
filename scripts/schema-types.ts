// TypeScript types from the OpenAPI description: what the operations under a prefix take and reply, and the schemas that
// they name.
import type { Description } from '../src/http/components.ts'

type Schema = {
  $ref?: string
  description?: string
  type?: string | string[]
  enum?: unknown[]
  const?: unknown
  anyOf?: Schema[]
  allOf?: Schema[]
  items?: Schema
  properties?: Record<string, Schema>
  required?: string[]
  additionalProperties?: Schema | boolean
  patternProperties?: Record<string, Schema>
}
type Media = { $ref?: string; content?: Record<string, { schema: Schema }> }
type Parameter = { $ref?: string; name: string; in: string; required?: boolean; schema: Schema; description?: string }
type Operation = { parameters?: Parameter[]; requestBody?: Media; responses: Record<string, Media> }

/** `documented`: each property on its own line, with its description, as editors show it. */
type Options = { prefix: string; documented: boolean }

/** The types `Schemas` and `Operations`. */
export function schemaTypes(description: Description, options: Options): string {
  const text = new TypeWriter(description, options).write()
  return options.documented ? indent(text) : text
}

class TypeWriter {
  readonly #description: Description
  readonly #options: Options

  constructor(description: Description, options: Options) {
    this.#description = description
    this.#options = options
  }

  write(): string {
    const { prefix } = this.#options
    const under = Object.entries(this.#description.paths).filter(([path]) => path.startsWith(`${prefix}/`))
    const operations = under.flatMap(([path, methods]) =>
      Object.entries(methods).map(
        ([method, operation]) =>
          `  '${method.toUpperCase()} ${path.slice(prefix.length)}': ${this.#operationType(operation as unknown as Operation)}`,
      ),
    )
    const schemas = this.#reachable(operations.join('\n')).map(([name, schema]) => `  ${name}: ${this.#typeOf(schema)}`)
    return Object.entries({ Schemas: schemas, Operations: operations })
      .map(([name, lines]) => `export type ${name} = {\n${lines.join('\n')}\n}\n`)
      .join('\n')
  }

  /** What an operation is asked with, and what it replies. */
  #operationType({ parameters = [], requestBody, responses }: Operation): string {
    const { components } = this.#description
    const shared = <T>(kind: string, one: T & { $ref?: string }): T =>
      one.$ref === undefined ? one : (components[kind]?.[one.$ref.split('/').at(-1) ?? ''] as T)
    const given = parameters.map((parameter) => shared('parameters', parameter))
    const typeIn = (place: string) => {
      const own = given.filter((parameter) => parameter.in === place)
      const required = own.filter((parameter) => parameter.required === true).map(({ name }) => name)
      const schemas = own.map(({ name, schema, description = '' }) => [name, { description, ...schema }])
      return this.#objectType(Object.fromEntries(schemas) as Record<string, Schema>, required)
    }
    const success = shared('responses', responses['200'] ?? responses['201'] ?? {})
    const reply = success.content?.['application/json']?.schema.allOf?.at(-1)?.properties?.['data']
    const body = requestBody?.content?.['application/json']?.schema
    const [bodyType, replyType] = [body, reply].map((schema) =>
      schema === undefined ? 'undefined' : this.#typeOf(schema),
    )
    return `{ path: ${typeIn('path')}; query: ${typeIn('query')}; body: ${bodyType}; reply: ${replyType} }`
  }

  /** The schemas that are named in the text, and those that these name, in order. */
  #reachable(text: string): [string, Schema][] {
    const all = this.#description.components['schemas'] as Record<string, Schema>
    const found = new Set<string>()
    const follow = (some: string) => {
      for (const [, name = ''] of some.matchAll(/Schemas\['(\w+)'\]/g)) {
        if (found.has(name)) continue
        found.add(name)
        follow(this.#typeOf(all[name] ?? {}))
      }
    }
    follow(text)
    return Object.entries(all).filter(([name]) => found.has(name))
  }

  #typeOf(schema: Schema): string {
    if (schema.$ref !== undefined) return `Schemas['${schema.$ref.split('/').at(-1) ?? ''}']`
    if (schema.allOf) return schema.allOf.map((one) => this.#typeOf(one)).join(' & ')
    if (schema.anyOf) return schema.anyOf.map((one) => this.#typeOf(one)).join(' | ')
    if (schema.enum) return schema.enum.map((value) => JSON.stringify(value)).join(' | ')
    if (schema.const !== undefined) return JSON.stringify(schema.const)
    return [schema.type ?? 'unknown']
      .flat()
      .map((type) => this.#plainType(type, schema))
      .join(' | ')
  }

  #plainType(type: string, schema: Schema): string {
    if (type === 'integer') return 'number'
    if (type === 'array') return `(${this.#typeOf(schema.items ?? {})})[]`
    if (type !== 'object') return type
    if (schema.properties) return this.#objectType(schema.properties, schema.required ?? [])
    const values = typeof schema.additionalProperties === 'object' ? schema.additionalProperties : Object.values(schema.patternProperties ?? {})[0] // prettier-ignore
    return `Record<string, ${this.#typeOf(values ?? {})}>`
  }

  #objectType(properties: Record<string, Schema>, required: string[]): string {
    if (Object.keys(properties).length === 0) return '{}'
    const fields = Object.entries(properties).map(([name, schema]) => {
      const field = `${name}${required.includes(name) ? '' : '?'}: ${this.#typeOf(schema)}`
      return this.#options.documented ? commentOf(schema) + field : field
    })
    return this.#options.documented ? `{\n${fields.join('\n')}\n}` : `{ ${fields.join('; ')} }`
  }
}

const commentOf = ({ description = '' }: Schema) =>
  description === '' ? '' : `/** ${description.replaceAll('*/', '* /').replaceAll('\n', ' ')} */\n`

/** By the braces that lines end and begin with. */
function indent(text: string): string {
  let depth = 0
  return text
    .split('\n')
    .map((line) => {
      const plain = line.trim()
      if (plain.startsWith('}')) depth--
      const indented = plain === '' ? '' : '  '.repeat(depth) + plain
      if (plain.endsWith('{')) depth++
      return indented
    })
    .join('\n')
}
