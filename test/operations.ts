// Every operation of the API, as its own description lists them.
import { ADVERTISER_ROLES, isOperatorRole, PUBLISHER_ROLES, type Role } from '../src/features/accounts/people.ts'
import type { Access } from '../src/manage/access.ts'
import type { World } from './world.ts'

type Described = {
  'x-access'?: Access
  'x-read'?: boolean
  'x-roles'?: Role[]
  'x-token-scopes'?: string[]
  'x-recent-proof'?: true
  'x-set-up'?: true
  security?: Record<string, never[]>[]
  parameters?: { name: string; in: string; schema?: { enum?: string[]; anyOf?: { const?: string }[]; type?: string } }[]
}

export type Operation = {
  method: string
  path: string
  access: Access
  isRead: boolean
  isSensitive: boolean
  roles: Role[] | null
  scopes: string[] | null
  takesTokens: boolean
  parameters: string[]
  query: string[]
  /** Of parameters in the query that take some values only: which. */
  allowed: Record<string, string[]>
}

export type Paths = Record<string, Record<string, Described>>

/** As declared, with what is left out of the public description. */
export const readPaths = (world: World): Paths => world.app.server.swagger().paths as Paths

/** The same document with every component written out where it is referred to. */
export function resolveRefs(document: unknown): unknown {
  const { components } = document as { components: Record<string, Record<string, unknown>> }
  const resolve = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(resolve)
    if (typeof value !== 'object' || value === null) return value
    const { $ref } = value as { $ref?: string }
    if ($ref === undefined) return Object.fromEntries(Object.entries(value).map(([key, part]) => [key, resolve(part)]))
    const [kind = '', name = ''] = $ref.split('/').slice(2)
    return resolve(components[kind]?.[name])
  }
  return resolve(document)
}

const NO_ID = '01890000-0000-7000-8000-000000000000'

/** The operations under a path, as they are described. */
export function operationsOf(paths: Paths, prefix: string): Operation[] {
  return Object.entries(paths)
    .filter(([path]) => path.startsWith(prefix))
    .flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, operation]) => ({
        method: method.toUpperCase(),
        path: path.slice(prefix.length),
        access: operation['x-access'] ?? 'publisher',
        isRead: operation['x-read'] ?? method === 'get',
        isSensitive: operation['x-recent-proof'] ?? false,
        roles: operation['x-roles'] ?? null,
        scopes: operation['x-token-scopes'] ?? null,
        takesTokens: operation.security?.some((one) => 'bearer' in one) ?? false,
        query: (operation.parameters ?? []).filter((one) => one.in === 'query').map(({ name }) => name),
        allowed: Object.fromEntries(
          (operation.parameters ?? []).flatMap(({ name, schema }) => {
            const values = schema?.enum ?? schema?.anyOf?.flatMap((one) => one.const ?? [])
            return values === undefined || values.length === 0 ? [] : [[name, values]]
          }),
        ),
        parameters: [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name ?? ''),
      })),
    )
}

/** The path with these ids, and with ids of nothing where there is none. */
export const fill = (path: string, ids: Record<string, string>) =>
  path.replaceAll(
    /\{(\w+)\}/g,
    (_, name: string) => ids[name] ?? (name.endsWith('_id') && /^\d/.test(name) ? '1' : NO_ID),
  )

export const nameOf = ({ method, path }: Operation) => `${method} ${path}`

export const isPublishers = (role: Role) => PUBLISHER_ROLES.some((one) => one === role)

/** Everyone but operators: those who see only their own. */
export const OUTSIDERS: Role[] = [...PUBLISHER_ROLES, ...ADVERTISER_ROLES]

/** Whether an operation is for this kind of person at all. */
export function isFor(role: Role, { roles }: Operation): boolean {
  if (roles === null || isOperatorRole(role)) return true
  const kind: readonly Role[] = isPublishers(role) ? PUBLISHER_ROLES : ADVERTISER_ROLES
  return kind.some((one) => roles.includes(one))
}

export const isNamed = ({ parameters }: Operation, ...names: string[]) =>
  names.some((name) => parameters.includes(name))
