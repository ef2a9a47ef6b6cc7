// What every answer must be, whatever was asked.
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import { ERRORS, MANAGE_ERRORS } from '../../../src/errors.ts'
import type { Answer } from './connection.ts'
import type { Described } from './description.ts'
import type { FuzzRequest } from './request.ts'

/** Longer than any answer should take, on a machine that has much else to do. */
export const PATIENCE_MS = 40_000

const SECRET = /(?:sk_(?:live|test)_|whsec_|adv_|mt_)[\w+/=-]{12,}/g
/** What only the inside of the program would say. */
const INSIDE = /\bat [^\n]{0,200}\.(?:ts|js):\d+:\d+|node_modules\/|node:internal|violates (?:check|unique|foreign)|syntax error at|relation "|invalid byte sequence|kysely/i // prettier-ignore

export class Checks {
  readonly #ajv = new Ajv2020({ strict: false, validateFormats: false, allErrors: false })
  readonly #validators = new Map<string, ValidateFunction | null>()
  /** Secrets of the callers, which no answer may hold. */
  secrets: ReadonlyMap<string, string> = new Map()

  /** What is wrong with an answer, or null. */
  problemOf(request: FuzzRequest, answer: Answer): string | null {
    const { status, headers } = answer
    if (status < 100) return 'not an answer in HTTP'
    if (status >= 500) return `status ${status}`
    if (headers.has('x-injected')) return 'a value of the request became a header of the answer'
    const text = answer.body.toString('utf8')
    if (status >= 400 && INSIDE.test(text)) return 'the answer shows the inside of the program'
    for (const [found] of text.matchAll(SECRET)) if (this.secrets.has(found)) return 'the answer holds a secret'
    const isJson = headers.get('content-type')?.startsWith('application/json') === true
    const json = isJson && request.method !== 'HEAD' && text !== '' ? parse(text) : null
    if (json === undefined) return 'the answer is not the JSON that it says it is'
    return this.#envelopeProblem(request, status, json) ?? this.#schemaProblem(request, status, json)
  }

  /** v1 and the management API have their codes, each with its status. */
  #envelopeProblem({ method, target }: FuzzRequest, status: number, json: unknown): string | null {
    const codes: Record<string, number> | null = /^\/(api\/)?v1\//.test(target) ? ERRORS : target.startsWith('/manage/v1/') ? MANAGE_ERRORS : null // prettier-ignore
    if (codes === null || status < 400 || method === 'HEAD') return null
    const { success, error, meta } = (json ?? {}) as { success?: unknown; error?: { code?: string; message?: unknown }; meta?: { request_id?: unknown } } // prettier-ignore
    if (success !== false || typeof error?.message !== 'string' || typeof meta?.request_id !== 'string') return 'an error outside of the envelope' // prettier-ignore
    return codes[error.code ?? ''] === status ? null : `code ${error.code} with status ${status}`
  }

  #schemaProblem({ operation, method }: FuzzRequest, status: number, json: unknown): string | null {
    if (operation === null || json === null || method !== operation.method) return null
    if (status === 400 && isUnreadable(json)) return null
    const validate = this.#validatorOf(operation, status)
    if (validate === undefined) return `status ${status} is not described`
    if (validate === null || validate(json)) return null
    const [error] = validate.errors ?? []
    return `status ${status} is not as described: ${error?.instancePath} ${error?.message}`
  }

  /** Null where the answer is no JSON, undefined where the status is not described. */
  #validatorOf({ name, answers }: Described, status: number): ValidateFunction | null | undefined {
    const described = [String(status), `${Math.floor(status / 100)}xx`, 'default'].find((one) => answers.has(one))
    if (described === undefined) return undefined
    const key = `${described} ${name}`
    let validate = this.#validators.get(key)
    if (validate === undefined) {
      const schema = answers.get(described) ?? null
      validate = schema === null ? null : this.#ajv.compile(schema)
      this.#validators.set(key, validate)
    }
    return validate
  }
}

/** Refused before any route: too long, or no HTTP. */
const isUnreadable = (json: unknown) =>
  /^(URL and headers together|The request could not be read|The request URL is not valid|The request has more than one Host)/.test((json as { error?: { message?: string } }).error?.message ?? '') // prettier-ignore

/** Undefined where it is none. */
function parse(text: string): unknown {
  try {
    return JSON.parse(text) as unknown
  } catch {
    return undefined
  }
}
