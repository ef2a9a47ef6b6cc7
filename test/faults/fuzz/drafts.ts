// A request for an operation as its description wants it, by a caller who may send it, or sometimes by one who may not.
import { createHmac } from 'node:crypto'
import type { IssuedCredentials } from '../../../src/features/apps/keys.ts'
import { isOperatorRole } from '../../../src/features/accounts/people.ts'
import { signUser } from '../../../src/features/wall/signature.ts'
import { isPublishers } from '../../operations.ts'
import type { Random } from '../random.ts'
import { type AppKeys, byKey, bySession, byToken, type Callers, type Member } from './callers.ts'
import type { Described } from './description.ts'
import type { Row } from './ids.ts'
import type { Header } from './request.ts'
import type { Sample, Stock } from './stock.ts'
import { anyUser, type Sources, Values } from './values.ts'

/** Before it is bytes. */
export type Draft = {
  what: string
  operation: Described | null
  method: string
  path: string
  query: [name: string, value: string][]
  headers: Header[]
  /** Undefined where there is none; bytes are sent as they are, everything else as JSON. */
  body: unknown
}

export type Surroundings = Sources & { url: string; callers: Callers; stock: Stock }

/** What ends the access of a caller is done to spare ones. */
const ENDS_SESSION = /^\/manage\/v1\/(session$|me\/(sessions|password|two-factor|tokens))/
const ENDS_KEYS = /\/apps\/\{app_id\}\/(revoke|credentials|rate-limit)/
const ENDS_PUBLISHER = /\/publishers\/\{publisher_id\}(\/permissions|\/application|\/people|$)/
const ENDS_ADVERTISER = /\/advertisers\/\{advertiser_id\}(\/allowed-ips|\/signature|\/rotate-token|\/budget|\/people|$)/

export function draftFor(random: Random, operation: Described, around: Surroundings): Draft {
  const { callers, ids } = around
  const { path, method, family } = operation
  const isWrite = method !== 'GET'
  const spares = isWrite && [ENDS_SESSION, ENDS_KEYS, ENDS_PUBLISHER, ENDS_ADVERTISER].some((one) => one.test(path))
  const company = spares ? callers.sparePublisher : callers.publisher
  const advertiserId = spares ? callers.spareAdvertiser.id : callers.advertiser.id
  const member = family === 'manage' ? chooseMember(random, operation, spares ? callers.sparePeople : callers.people) : null // prettier-ignore
  const app = random.pick(company.apps)
  const values = new Values(random, around)
  const samples = around.stock.of(operation.id)
  const sample: Sample = samples.length > 0 && random.chance(0.6) ? random.pick(samples)() : {}

  /** An operator sees everything, but leaves the callers alone; others have their own. */
  const own: Row = { publisher_id: String(company.id), advertiser_id: String(advertiserId), app_id: String(app.appId), person_id: random.pick(callers.sparePeople).id } // prettier-ignore
  const named = operation.parameters.filter((one) => one.in === 'path').map(({ name }) => name)
  const last = named.at(-1) ?? ''
  const isOwn = (row: Row) => (row['app_id'] === undefined || company.apps.some(({ appId }) => String(appId) === row['app_id'])) && (row['advertiser_id'] ?? own['advertiser_id']) === own['advertiser_id'] // prettier-ignore
  const rows = last in own ? [] : ids.rows(last)
  const fitting = rows.filter(isOwn)
  const row = fitting.length > 0 ? random.pick(fitting) : rows.length > 0 ? random.pick(rows) : {}
  const valueOf = (name: string) =>
    sample.path?.[name] ??
    row[name] ??
    own[name] ??
    String(values.of(operation.parameters.find((one) => one.name === name)?.schema ?? {}, name))

  const keys = chooseKeys(random, sample.path?.['app_id'] ?? row['app_id'], app, company.apps)
  const query = operation.parameters
    .filter((one) => one.in === 'query' && (one.required === true || random.chance(0.3)))
    .map(({ name, schema }): [string, string] => [name, String(values.of(schema, name))])
  const headers: Header[] = operation.parameters
    .filter((one) => one.in === 'header' && random.chance(0.9))
    .map(({ name, schema }) => [name, printable(String(values.of(schema, name)))])
  const draft: Draft = {
    what: `${operation.name} ${member === null ? '' : `as ${member.role}`}`,
    operation,
    method,
    path: path.replaceAll(/\{(\w+)\}/g, (_, name: string) => percent(valueOf(name))),
    query,
    headers,
    body: operation.body === null ? undefined : (sample.body ?? values.of(operation.body, '')),
  }
  if (sample.headers !== undefined) draft.headers.push(...sample.headers)
  else if (member !== null)
    draft.headers.push(...(random.chance(0.75) ? bySession(member, around.url) : byToken(member)))
  if (family === 'v1') addKeys(random, draft, keys)
  if (sample.query !== undefined) draft.query = sample.query.map((one) => [...one])
  else if (family === 'wall' || path === '/wall') addViewer(random, draft, keys)
  if (path === '/postback') addCallback(random, draft, callers.advertiser.token, values)
  return draft
}

/** One who may, most of the time; null is a stranger. */
function chooseMember(random: Random, { roles }: Described, people: readonly Member[]): Member | null {
  if (random.chance(0.03)) return null
  const may = people.filter(({ role }) => roles?.includes(role) ?? true)
  if (may.length === 0 || random.chance(0.12)) return random.pick(people)
  // Where an operator and a publisher may, each kind is as likely.
  const kinds = [isOperatorRole, isPublishers, (role: Member['role']) => role === 'advertiser'].map((isKind) => may.filter(({ role }) => isKind(role))).filter((some) => some.length > 0) // prettier-ignore
  return random.pick(random.pick(kinds))
}

function chooseKeys(
  random: Random,
  appId: string | undefined,
  app: AppKeys,
  apps: readonly AppKeys[],
): IssuedCredentials {
  // prettier-ignore
  const { live, test } = apps.find((one) => String(one.appId) === appId) ?? app
  return random.chance(0.8) ? live : test
}

function addKeys(random: Random, draft: Draft, keys: IssuedCredentials): void {
  if (random.chance(0.3)) draft.path = draft.path.replace('/api', '')
  if (random.chance(0.8)) draft.headers.push(...byKey(keys))
  else draft.query.push(['apiKey', keys.api_key], ['apiSecret', keys.api_secret])
}

function addViewer(random: Random, draft: Draft, keys: IssuedCredentials): void {
  const userId = anyUser(random)
  const expiresAtS = Math.floor(Date.now() / 1_000) + random.int(60, 80_000)
  const sig = signUser(keys.signing_secret, { apiKey: keys.api_key, userId, expiresAtS })
  const viewer: Record<string, string> = { apiKey: keys.api_key, userId, exp: String(expiresAtS), sig }
  draft.query = draft.query.filter(([name]) => !(name in viewer))
  const isSigned = random.chance(0.85)
  for (const [name, value] of Object.entries(viewer))
    if (isSigned || name === 'apiKey' || name === 'userId') draft.query.push([name, value])
}

/** Advertisers name the click, the amount and the status; some send a form. */
function addCallback(random: Random, draft: Draft, token: string, values: Values): void {
  const known = ['click_id', 'txn_id', 'status', 'payout', 'amount', 'goal', 'currency', 'event', 'user_id'].filter((name) => name === 'click_id' || random.chance(0.3)) // prettier-ignore
  const pairs = known.map((name): [string, string] => [name, String(values.of({ type: 'string' }, name))])
  pairs.push(['token', token])
  if (random.chance(0.1)) pairs.push(['sig', createHmac('sha256', token).update('x').digest('hex')])
  if (draft.method === 'GET') return void draft.query.push(...pairs)
  const isForm = random.chance(0.5)
  draft.headers.push(['Content-Type', isForm ? 'application/x-www-form-urlencoded' : 'application/json'])
  draft.body = Buffer.from(isForm ? queryText(pairs) : JSON.stringify(Object.fromEntries(pairs)))
}

/** A lone surrogate has no UTF-8: its three bytes are sent, as programs do that do not know it. */
export function percent(text: string): string {
  const encoded = text.isWellFormed() ? encodeURIComponent(text) : ''
  if (encoded !== '' || text === '') return encoded
  return Array.from(text, (one) => (one.isWellFormed() ? encodeURIComponent(one) : `%ED%${(0x80 | ((one.charCodeAt(0) >> 6) & 0x3f)).toString(16)}%${(0x80 | (one.charCodeAt(0) & 0x3f)).toString(16)}`)).join('') // prettier-ignore
}

export const queryText = (pairs: readonly (readonly [string, string])[]) =>
  pairs.map(([name, value]) => `${percent(name)}=${percent(value)}`).join('&')

/** What can stand in a header without ending it. */
export const printable = (text: string) => text.replaceAll(/[^\t\x20-\x7e\x80-\xff]/g, '?').trim()
