// Every operation as the server itself describes it, with its schemas written out.
import type { Role } from '../../../src/features/accounts/people.ts'
import { declared } from '../../../scripts/description.ts'
import { type Paths, resolveRefs } from '../../operations.ts'
import type { Family } from './request.ts'

export type Schema = {
  type?: string | string[]
  enum?: unknown[]
  const?: unknown
  anyOf?: Schema[]
  oneOf?: Schema[]
  allOf?: Schema[]
  properties?: Record<string, Schema>
  required?: string[]
  additionalProperties?: boolean | Schema
  items?: Schema
  minItems?: number
  maxItems?: number
  minLength?: number
  maxLength?: number
  pattern?: string
  format?: string
  minimum?: number
  maximum?: number
  exclusiveMinimum?: number
}

type Parameter = { name: string; in: 'query' | 'path' | 'header'; required?: boolean; schema: Schema }

export type Described = {
  id: string
  name: string
  family: Family
  method: string
  path: string
  roles: Role[] | null
  parameters: Parameter[]
  body: Schema | null
  /** By status: the schema of an answer in JSON, null of any other. */
  answers: Map<string, Schema | null>
}

type Content = Record<string, { schema: Schema }>
type Raw = {
  operationId: string
  parameters?: Parameter[]
  requestBody?: { content: Content }
  responses: Record<string, { content?: Content }>
}

export async function readDescription(url: string): Promise<Described[]> {
  const document = resolveRefs(await (await fetch(`${url}/openapi.json`)).json()) as { paths: Record<string, Record<string, Raw>> } // prettier-ignore
  return Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, raw]): Described => {
      const jsonOf = (content: Content | undefined) => content?.['application/json']?.schema ?? null
      return {
        id: raw.operationId,
        name: `${method.toUpperCase()} ${path}`,
        family: familyOf(path),
        method: method.toUpperCase(),
        path,
        roles: (declared.paths as Paths)[path]?.[method]?.['x-roles'] ?? null,
        parameters: raw.parameters ?? [],
        body: jsonOf(raw.requestBody?.content),
        answers: new Map(Object.entries(raw.responses).map(([status, { content }]) => [status.toLowerCase(), jsonOf(content)])), // prettier-ignore
      }
    }),
  )
}

function familyOf(path: string): Family {
  if (path.startsWith('/api/v1/')) return 'v1'
  if (path.startsWith('/manage/v1/')) return 'manage'
  return path.startsWith('/wall/v1/') || path.startsWith('/locker/v1/') ? 'wall' : 'page'
}
