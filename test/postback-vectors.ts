// Postbacks, good and bad, and what a receiver must say of each: shared by the examples of all languages. After a change:
// node test/postback-vectors.ts > examples/verify-postback/vectors.json
import { createHash } from 'node:crypto'
import { signMessage, signUrl } from '../src/features/postbacks/signing.ts'
import { EXAMPLE_VALUES, fillTemplate } from '../src/features/postbacks/template.ts'

export type Vector = {
  name: string
  /** What proves it: the headers, over the body of a POST or the URL of a GET; or the {signature} in the URL. */
  proof: 'headers' | 'signature'
  secrets: string[]
  headers: Record<string, string>
  content: string
  now: number
  expect: 'ok' | 'wrong'
}

const NOW_S = 1_794_719_785
const ID = '01a3c5d2-7c40-7d3e-9f57-3a1b2c4d5e6f'
const createSecret = (name: string) => `whsec_${createHash('sha256').update(name).digest('base64')}`
const SECRET = createSecret('the first secret')
const NEXT = createSecret('the next secret')

export function createVectors(): Vector[] {
  return [...postVectors(), ...getVectors(), ...signatureVectors()]
}

/** Signs by `secrets` what the receiver gets as it is, but for what is changed on the way. */
function headersVector(
  name: string,
  expect: Vector['expect'],
  sent: { content: string; at?: number; secrets?: string[] },
  changed: { content?: string; headers?: Record<string, string>; without?: string; secrets?: string[] } = {},
): Vector {
  const at = sent.at ?? NOW_S
  const headers: Record<string, string> = {
    'webhook-id': ID,
    'webhook-timestamp': String(at),
    'webhook-signature': signMessage(sent.secrets ?? [SECRET], ID, at, sent.content),
    ...changed.headers,
  }
  if (changed.without !== undefined) delete headers[changed.without]
  const { secrets = [SECRET], content = sent.content } = changed
  return { name, proof: 'headers', secrets, headers, content, now: NOW_S, expect }
}

function postVectors(): Vector[] {
  const content = JSON.stringify({
    id: ID,
    type: 'conversion.approved',
    created_at: '2026-11-15T07:56:25Z',
    sequence: 1,
    data: { user_id: 'Zoë 😀', payout: 1.25, payout_local: 1250, currency: 'Coins', aff_sub: 'a\\b"c\u2028' },
  })
  const other = signMessage([SECRET], ID, NOW_S, `${content} `)
  return [
    headersVector('POST as it was sent', 'ok', { content }),
    headersVector('POST with an empty body', 'ok', { content: '' }),
    headersVector('POST of five minutes ago', 'ok', { content, at: NOW_S - 300 }),
    headersVector('POST of longer ago', 'wrong', { content, at: NOW_S - 301 }),
    headersVector('POST of five minutes ahead', 'ok', { content, at: NOW_S + 300 }),
    headersVector('POST of further ahead', 'wrong', { content, at: NOW_S + 301 }),
    headersVector('POST signed by two secrets, of which we know the first', 'ok', { content, secrets: [SECRET, NEXT] }),
    headersVector('POST signed by two secrets, of which we know the second', 'ok', { content, secrets: [NEXT, SECRET] }),
    headersVector('POST signed by the second of our secrets', 'ok', { content }, { secrets: [NEXT, SECRET] }),
    headersVector('POST signed by a secret that is not ours', 'wrong', { content }, { secrets: [NEXT] }),
    headersVector('POST with a changed body', 'wrong', { content }, { content: content.replace('1250', '9250') }),
    headersVector('POST with a space behind its body', 'wrong', { content }, { content: `${content} ` }),
    headersVector('POST with another id', 'wrong', { content }, { headers: { 'webhook-id': ID.replace('0', '1') } }),
    headersVector('POST with another time', 'wrong', { content }, { headers: { 'webhook-timestamp': `${NOW_S + 1}` } }),
    headersVector('POST with a time that is none', 'wrong', { content }, { headers: { 'webhook-timestamp': 'soon' } }),
    headersVector('POST with the signature of another', 'wrong', { content }, { headers: { 'webhook-signature': other } }),
    headersVector('POST with a signature of another kind', 'wrong', { content }, {
      headers: { 'webhook-signature': signMessage([SECRET], ID, NOW_S, content).replace('v1,', 'v2,') },
    }),
    headersVector('POST with half a signature', 'wrong', { content }, {
      headers: { 'webhook-signature': signMessage([SECRET], ID, NOW_S, content).slice(0, 20) },
    }),
    headersVector('POST with rubbish for a signature', 'wrong', { content }, { headers: { 'webhook-signature': 'v1,é v1 ,' } }),
    headersVector('POST without an id', 'wrong', { content }, { without: 'webhook-id' }),
    headersVector('POST without a time', 'wrong', { content }, { without: 'webhook-timestamp' }),
    headersVector('POST without a signature', 'wrong', { content }, { without: 'webhook-signature' }),
  ] // prettier-ignore
}

const TEMPLATE =
  'https://example.com/postback/{offer_id}?user={user_id}&tx={transaction_id}&sub={aff_sub}&reward={reward}&status={status}'
const fill = (template: string, sign: (url: string) => string = () => '') =>
  fillTemplate(template, { ...EXAMPLE_VALUES, user_id: "Zoë & 😀/'..'", aff_sub: null }, sign)

/** What could happen to a URL on its way. */
const CHANGES: [string, (url: string) => string][] = [
  ['a changed parameter', (url) => url.replace('reward=1250', 'reward=9250')],
  ['a parameter more', (url) => url.replace('&reward', '&bonus=1&reward')],
  ['a parameter less', (url) => url.replace('&status=approved', '')],
  ['parameters in another order', (url) => url.replace('&reward=1250&status=approved', '&status=approved&reward=1250')],
  ['another path', (url) => url.replace('/58?', '/59?')],
  ['another host', (url) => url.replace('example.com', 'example.org')],
  ['another scheme', (url) => url.replace('https:', 'http:')],
]

function getVectors(): Vector[] {
  const content = fill(TEMPLATE)
  return [
    headersVector('GET as it was sent', 'ok', { content }),
    headersVector('GET of longer ago', 'wrong', { content, at: NOW_S - 301 }),
    ...CHANGES.map(([what, change]) =>
      headersVector(`GET with ${what}`, 'wrong', { content }, { content: change(content) }),
    ),
  ]
}

function signatureVectors(): Vector[] {
  const signed = fill(`${TEMPLATE}&signature={signature}`, (url) => signUrl(SECRET, url))
  const [address, signature] = [signed.slice(0, -64), signed.slice(-64)]
  const vector = (name: string, expect: Vector['expect'], content: string, secrets = [SECRET]): Vector => ({
    name: `{signature} ${name}`,
    proof: 'signature',
    secrets,
    headers: {},
    content,
    now: NOW_S,
    expect,
  })
  return [
    vector('as it was sent', 'ok', signed),
    vector('made by the second of our secrets', 'ok', signed, [NEXT, SECRET]),
    vector('made by a secret that is not ours', 'wrong', signed, [NEXT]),
    ...CHANGES.map(([what, change]) => vector(`with ${what}`, 'wrong', change(signed))),
    vector('in the place of an empty value', 'wrong', address.replace('sub=', `sub=${signature}`)),
    vector('with a parameter behind it', 'wrong', `${signed}&bonus=1`),
    vector('cut short', 'wrong', signed.slice(0, -1)),
    vector('that is empty', 'wrong', address),
    vector('of an address that is empty', 'wrong', ''),
  ]
}

if (import.meta.main) process.stdout.write(`${JSON.stringify(createVectors(), null, 2)}\n`)
