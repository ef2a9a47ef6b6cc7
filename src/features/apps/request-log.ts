// What publishers' servers asked of the API, for the log in their dashboard. A request leaves at most a row in memory; a
// loop writes the rows. A quiet app has every request in its log, a busy one a sample, and how many were left out.
//
// Nothing here is acknowledged to anyone: rows that a process had not written when it died are lost, and so are those
// that the database does not take.
import type { FastifyRequest } from 'fastify'
import { sql } from 'kysely'
import type { Db } from '../../db/open.ts'
import type { Details } from '../../errors.ts'
import { uuid7 } from '../../lib/uuid7.ts'
import type { AppCredential } from './credentials.ts'

/** For each API key, successes and errors apart: this many at once, and so many a minute for good. */
const KEY_BURST = 100
const KEY_A_MINUTE = 4
/** For all keys of a process together. */
const PROCESS_BURST = 5_000
const PROCESS_A_MINUTE = 600

const MAX_PARAMETERS = 50
export const MAX_VALUE = 200
export const MAX_PATH = 200
export const MAX_BODY = 2_000
const MASK = '…'
const SECRET_NAME = /secret|token|password/i
const SECRET_VALUE = /\b(sk_(live|test)|whsec)_[\w+/=]+/g
/** It unlocks something, and names its visitor. */
const PROOF = /\b(locker\.v1\.\d+\.)[\w.-]+/g

type LoggedRequest = {
  logged_id: string
  app_id: number
  is_test: boolean
  request_id: string
  method: string
  path: string
  parameters: Record<string, string | string[]>
  body: string | null
  status: number
  error_code: string | null
  error_message: string | null
  error_details: Record<string, string> | null
  duration_us: number
  is_verified: boolean
  skipped: number
}

/** How many more rows may be logged; refills with time. */
class Budget {
  readonly #burst: number
  readonly #perMs: number
  #left: number
  #atMs = 0
  skipped = 0

  constructor(burst: number, aMinute: number) {
    this.#burst = burst
    this.#perMs = aMinute / 60_000
    this.#left = burst
  }

  take(nowMs: number): boolean {
    this.#left = Math.min(this.#burst, this.#left + Math.max(0, nowMs - this.#atMs) * this.#perMs)
    this.#atMs = nowMs
    if (this.#left < 1) {
      this.skipped++
      return false
    }
    this.#left--
    return true
  }
}

type KeyBudgets = { successes: Budget; errors: Budget }

export class RequestLog {
  #rows: LoggedRequest[] = []
  readonly #budgets = new Map<string, KeyBudgets>()
  readonly #all = new Budget(PROCESS_BURST, PROCESS_A_MINUTE)
  readonly #now: () => number

  constructor(now: () => number = Date.now) {
    this.#now = now
  }

  /** Called for every response: a look-up and a subtraction for a key that has used up its share. */
  readonly note = (request: FastifyRequest, status: number): void => {
    const credential = request.named as AppCredential | null
    if (credential === null) return
    const now = this.#now()
    const budgets = this.#budgetsOf(credential.apiKey)
    const budget = status >= 400 ? budgets.errors : budgets.successes
    if (!budget.take(now)) return
    if (!this.#all.take(now)) return void budget.skipped++
    this.#rows.push(describe(request, credential, status, now, budget.skipped))
    budget.skipped = 0
  }

  #budgetsOf(apiKey: string): KeyBudgets {
    let budgets = this.#budgets.get(apiKey)
    if (budgets === undefined) {
      budgets = { successes: new Budget(KEY_BURST, KEY_A_MINUTE), errors: new Budget(KEY_BURST, KEY_A_MINUTE) }
      this.#budgets.set(apiKey, budgets)
    }
    return budgets
  }

  async write(db: Db): Promise<void> {
    if (this.#rows.length === 0) return
    const rows = this.#rows
    this.#rows = []
    await sql`
      INSERT INTO api_requests SELECT * FROM jsonb_populate_recordset(null::api_requests, ${JSON.stringify(rows)}::jsonb)
    `.execute(db)
  }
}

function describe(
  request: FastifyRequest,
  { appId, isTest }: AppCredential,
  status: number,
  nowMs: number,
  skipped: number,
): LoggedRequest {
  const [path = '', query = ''] = request.url.split('?', 2)
  const { error } = request
  return {
    logged_id: uuid7(nowMs),
    app_id: appId,
    is_test: isTest,
    request_id: request.id,
    method: request.method,
    path: cleanText(path, MAX_PATH),
    parameters: maskParameters(query),
    body: maskBody(request.body),
    status,
    error_code: error?.code ?? null,
    error_message: error === null ? null : cleanText(error.message, MAX_BODY),
    error_details: cleanDetails(error?.details ?? null),
    duration_us: Math.round((performance.now() - request.startedAt) * 1_000),
    is_verified: request.credential !== null,
    skipped,
  }
}

/** As they were sent, also those that the API does not know: a misspelt one is what a developer looks for here. */
function maskParameters(query: string): Record<string, string | string[]> {
  const found = new Map<string, string | string[]>() // a name may be constructor
  for (const [name, value] of [...new URLSearchParams(query)].slice(0, MAX_PARAMETERS)) {
    const key = cleanText(name, MAX_VALUE)
    const shown = SECRET_NAME.test(name) ? MASK : cleanText(value, MAX_VALUE)
    const before = found.get(key)
    found.set(key, before === undefined ? shown : [before, shown].flat())
  }
  return Object.fromEntries(found)
}

function maskBody(body: unknown): string | null {
  if (body === undefined || body === null) return null
  const hide = (name: string, value: unknown) => (SECRET_NAME.test(name) ? MASK : value)
  return cleanText(JSON.stringify(body, hide), MAX_BODY)
}

const cleanDetails = (details: Details | null) =>
  details &&
  Object.fromEntries(
    Object.entries(details).map(([name, value]) => [cleanText(name, MAX_VALUE), cleanText(value, MAX_VALUE)]),
  )

/** What PostgreSQL can store, without our own secrets and proofs, wherever they were put, and cut. */
export function cleanText(text: string, length: number): string {
  const plain = text.toWellFormed().replaceAll('\0', '�')
  const masked = plain.replaceAll(SECRET_VALUE, `$1_${MASK}`).replaceAll(PROOF, `$1${MASK}`)
  return masked.length <= length ? masked : `${masked.slice(0, length - 1).toWellFormed()}…`
}

export type RequestFilter = {
  appId: number
  isTest: boolean
  outcome?: 'success' | 'error'
  requestId?: string
  before?: string
}

export type RequestLogRow = Omit<LoggedRequest, 'app_id' | 'is_test'>

/** Newest first. */
export async function listRequests(db: Db, filter: RequestFilter, limit: number): Promise<RequestLogRow[]> {
  let query = db
    .selectFrom('api_requests')
    .select(['logged_id', 'request_id', 'method', 'path', 'parameters', 'body', 'status'])
    .select(['error_code', 'error_message', 'error_details', 'duration_us', 'is_verified', 'skipped'])
    .where('app_id', '=', filter.appId)
    .where('is_test', '=', filter.isTest)
  if (filter.before !== undefined) query = query.where('logged_id', '<', filter.before)
  if (filter.requestId !== undefined) query = query.where('request_id', '=', filter.requestId)
  if (filter.outcome === 'error') query = query.where('status', '>=', 400)
  if (filter.outcome === 'success') query = query.where('status', '<', 400)
  return (await query.orderBy('logged_id', 'desc').limit(limit).execute()) as RequestLogRow[]
}
