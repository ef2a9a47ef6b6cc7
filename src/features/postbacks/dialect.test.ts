// Dialects: what values look like, what is signed, which answers count. The signatures were computed with Python and PHP.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import fc from 'fast-check'
import { InvalidInput } from '../../errors.ts'
import { createAddressGuard } from './address-guard.ts'
import { readDialect } from './dialect-schema.ts'
import { checkDialect, type Dialect, isExpected, PLAIN, translate } from './dialect.ts'
import { buildRequest, describeRefusal, describeRequest, isReceived } from './message.ts'
import { applyQuery, presetOf, PRESETS } from './presets.ts'
import { type Recipe, RECIPE_MACROS } from './recipe.ts'
import { checkSettings, DEFAULTS, type PostbackSettings } from './settings.ts'
import { verifyMessage } from './signing.ts'
import { EXAMPLE_VALUES, MACROS, type MacroValues } from './template.ts'

const NOW = new Date('2026-11-15T07:56:25Z')
const SIGNING = `whsec_${Buffer.from('the secret of this test, 32 long').toString('base64')}`
const SECRET = 's3cr€t'
const guard = createAddressGuard({ allow: [], deny: [], allowLoopback: false })
const VALUES = { ...EXAMPLE_VALUES, user_id: 'Zoë & co', event_id: 'tx-1', conversion_id: 'conv-1', reward: 12.5, payout: 1.25 } // prettier-ignore

const settingsOf = (given: Partial<PostbackSettings>): PostbackSettings => ({
  ...DEFAULTS,
  url: 'https://example.com/cb',
  receiverSecret: SECRET,
  ...given,
})

function build(settings: PostbackSettings, values: Partial<MacroValues> = {}) {
  const body = { id: 'tx-1', type: 'conversion.approved', created_at: '', sequence: 1, data: {} }
  return buildRequest({ body, macros: { ...VALUES, ...values } }, settings, [SIGNING], NOW)
}
const parametersOf = (url: string) => Object.fromEntries(new URL(url).searchParams)
const byPreset = (name: string, url = 'https://example.com/cb.php') => {
  const preset = presetOf(name)!
  return settingsOf({ ...preset, url: applyQuery(url, preset.query) })
}

const SIGNATURES = {
  wannads: ['signature', 'bbc3d37df98013dceea2132f0a388c05'],
  fyber: ['sid', 'cddc4c973daab3c46d5b418e97ff0a17af8c52a8'],
  offertoro: ['sig', 'd79fee2539396c80d008f22f7b4dd61f'],
  lootably: ['hash', '2adbd233c6326657a1812b3d2b4e394c87d021349172af1fe254a2f4a1f3ca44'],
} as const

for (const [name, [parameter, signature]] of Object.entries(SIGNATURES))
  test(`${name}: the signature is the one that Python computes`, () => {
    assert.equal(parametersOf(build(byPreset(name)).url)[parameter], signature)
  })

test('superrewards: the signature covers the number that the ID becomes, and whole units', () => {
  const settings = byPreset('superrewards')
  const { id, new: amount, sig } = parametersOf(build(settings).url)
  assert.match(id ?? '', /^\d{1,19}$/)
  assert.equal(amount, '12')
  const plain = { ...settings, dialect: { ...settings.dialect, ids: 'uuid', reward_decimals: null } as const }
  assert.notEqual(sig, parametersOf(build(plain).url)['sig'])
  assert.equal(parametersOf(build(plain).url)['sig'], 'c49f22d3d2e0384ab08545491bef19ee')
})

const QUERY = 'https://example.com/cb?b=&sig={signature}&user={user_id}&amount={reward}&a=1~*!'
const RECIPES: [Partial<Recipe>, string][] = [
  [{}, 'c6feec78b36552287c322854539c3e04f9ead0fd325ec3d0e140bbecaa88e658'],
  [{ of: '{sorted_query_rfc3986}' }, '8b964a34b987eeed2f2e2f56052b6a6b311d84bcaaed3db2f5942c178a4d2aa8'],
  [{ of: '{sorted_query_decoded}' }, '63e15bdfdbd0b2c86cebe4774db67ac03a82c7c06ccf39ae8e551dd0aeac6760'],
  [{ algorithm: 'hmac-sha1', encoding: 'base64' }, 'O+lk8Th4E53/uA8TX7R2mvW8mqE='],
  [{ algorithm: 'hmac-md5', encoding: 'hex_upper' }, 'AA99069A7BB8BD50C0160F1B1918464F'],
  [{ algorithm: 'md5', of: '{sorted_query}{secret}', encoding: 'base64' }, 'KneyDXZ0oFw0fe8nTSAZyw=='],
]

test('a sorted query leaves out the signature, wherever that is, and is encoded as the receiver builds it', () => {
  for (const [given, expected] of RECIPES) {
    const signature: Recipe = {
      algorithm: 'hmac-sha256',
      of: '{sorted_query}',
      encoding: 'hex',
      header: null,
      ...given,
    }
    const dialect = { ...PLAIN, signature }
    assert.equal(parametersOf(build(settingsOf({ url: QUERY, dialect })).url)['sig'], expected)
    const inHeader = { ...PLAIN, signature: { ...signature, header: 'X-Security-Hash' } }
    const request = build(settingsOf({ url: QUERY.replace('sig={signature}&', ''), dialect: inHeader }))
    assert.equal(request.headers['x-security-hash'], expected)
  }
})

test('a POST can be a form: the parameters of the URL are its body, which our own headers sign', () => {
  const { dialect, ...preset } = byPreset('wannads', 'https://example.com/cb.php?site=3')
  const form = settingsOf({ ...preset, method: 'POST', dialect: { ...dialect, post_body: 'form' } })
  const { url, body, headers } = build(form)
  assert.equal(url, 'https://example.com/cb.php')
  assert.equal(headers['content-type'], 'application/x-www-form-urlencoded')
  const sent = Object.fromEntries(new URLSearchParams(body ?? ''))
  assert.deepEqual([sent['site'], sent['subId'], sent['signature']], ['3', 'Zoë & co', SIGNATURES.wannads[1]])
  assert.equal(verifyMessage([SIGNING], headers, body ?? '', NOW.getTime() / 1000), 'ok')
  assert.match(checkSettings({ ...form, dialect: { ...PLAIN, post_body: 'form' } }, guard).problems[0]?.message ?? '', /signs a URL, not a form/) // prettier-ignore
})

test('the headers of Standard Webhooks are sent besides every signature', () => {
  for (const { preset } of PRESETS) {
    const { url, headers } = build(byPreset(preset))
    assert.equal(verifyMessage([SIGNING], headers, url, NOW.getTime() / 1000), 'ok', preset)
  }
})

test('every preset can be saved once there is a secret, and says what is weak about it', () => {
  for (const { preset, title } of PRESETS) {
    const settings = byPreset(preset)
    assert.deepEqual(checkSettings(settings, guard).problems, [], title)
    const missing = checkSettings({ ...settings, receiverSecret: null }, guard).problems
    assert.deepEqual(missing.map(({ field }) => field), ['receiver_secret']) // prettier-ignore
    const { warnings } = checkSettings(settings, guard)
    const { algorithm } = settings.dialect.signature!
    assert.equal(warnings.some((one) => one.includes('is a weak signature')), algorithm === 'md5' || algorithm === 'sha1') // prettier-ignore
    assert.ok(!warnings.some((one) => one.includes('look like credits')), title)
  }
  const warningsOf = (name: string) => checkSettings(byPreset(name), guard).warnings.join(' ')
  assert.match(warningsOf('fyber'), /With the secret first/)
  assert.match(warningsOf('offertoro'), /does not cover the amount.*does not cover the transaction/)
})

test('the docs name every preset and every macro of recipes', () => {
  const docs = readFileSync(new URL('../../../docs/postbacks.md', import.meta.url), 'utf8')
  for (const { preset } of PRESETS) assert.ok(docs.includes(`\n| \`${preset}\` |`), preset)
  for (const [name, description] of Object.entries(RECIPE_MACROS))
    assert.ok(docs.includes(`\n| \`{${name}}\` | ${description} |`), name)
  const [, example = ''] = /```json\n(\{\n  "statuses".*?)```/s.exec(docs) ?? []
  assert.deepEqual(checkDialect(readDialect(JSON.parse(example)), SECRET).problems, [])
})

test('a preset keeps what the URL has besides macros, and replaces the rest', () => {
  assert.equal(applyQuery(' https://a.example/p.php?site=3&old={user_id}#x', 'u={user_id}'), 'https://a.example/p.php?site=3&u={user_id}') // prettier-ignore
  assert.equal(applyQuery('https://a.example/{offer_id}', 'u={user_id}'), 'https://a.example/{offer_id}?u={user_id}')
})

const speak = (dialect: Partial<Dialect>, values: Partial<MacroValues> = {}) =>
  translate({ ...VALUES, ...values }, { ...PLAIN, ...dialect })

test('amounts have no comma and no exponent, and are cut off, so that a reversal takes back what was given', () => {
  const reward = (value: number, reward_decimals: number | null) => speak({ reward_decimals }, { reward: value }).reward
  const cases = [
    [12.5, null, '12.5'],
    [12.5, 0, '12'],
    [-12.9999, 0, '-12'],
    [1234567.5, 2, '1234567.50'],
    [-0.004, 2, '0.00'],
    [0.0001, 4, '0.0001'],
    [0, null, '0'],
    [-50, null, '-50'],
    [1e9, 1, '1000000000.0'],
    [99_999_999_999.9999, null, '99999999999.9999'],
    [-123_456_789_012_345, 2, '-123456789012345.00'],
    [0.1 + 0.2, null, '0.3'],
  ] as const
  for (const [value, decimals, expected] of cases) assert.equal(reward(value, decimals), expected)
  assert.equal(speak({ payout_decimals: 2 }, { payout: 0.129 }).payout, '0.12')
  assert.equal(speak({ times: 'iso' }, { payout: 0.000001 }).payout, '0.000001')
})

test('words, times and IDs are as the dialect has them', () => {
  assert.equal(speak({ statuses: { approved: 'credited' } }).status, 'credited')
  const timeAs = (times: Dialect['times']) => speak({ times }, { timestamp: NOW.getTime() / 1000 }).timestamp
  assert.deepEqual((['unix', 'unix_ms', 'iso', 'sql'] as const).map(timeAs), ['1794729385', '1794729385000', '2026-11-15T07:56:25Z', '2026-11-15 07:56:25']) // prettier-ignore
  assert.equal(speak({ transaction_id: 'conversion' }).transaction_id, 'conv-1')
  const numbers = speak({ ids: 'number' }, { event_id: MACROS.event_id.example, conversion_id: MACROS.conversion_id.example }) // prettier-ignore
  assert.deepEqual([numbers.transaction_id, numbers.event_id, numbers.conversion_id], ['5161865023464125049', '5161865023464125049', '1126450200380147053']) // prettier-ignore
})

test('an answer counts if it begins as expected; the log says what came instead', () => {
  const settings = byPreset('wannads')
  for (const text of ['OK', ' ok\n', '\uFEFFOK', 'DUP', 'DUPLICATE']) assert.ok(isReceived(settings, 200, text), text)
  for (const text of ['', '1', 'ERROR: OK', "ERROR: Signature doesn't match"])
    assert.ok(!isReceived(settings, 200, text), text)
  assert.ok(!isReceived(settings, 500, 'OK'))
  assert.equal(describeRefusal(settings, 200, "ERROR: Signature doesn't match\n<br>"), `The answer "ERROR: Signature doesn't match" is not expected: it must begin with OK or DUP.`) // prettier-ignore
  assert.equal(describeRefusal(settings, 200, ' '), 'The answer is empty: it must begin with OK or DUP.')
  assert.equal(describeRefusal(byPreset('superrewards'), 200, '0'), 'The answer "0" is not expected: it must begin with 1.') // prettier-ignore
  assert.ok(isExpected(PLAIN, '1'))
})

test('what a receiver has no word for cannot be chosen', () => {
  const { problems } = checkSettings({ ...byPreset('wannads'), events: ['pending', 'approved', 'reversed'] }, guard)
  assert.deepEqual(problems, [{ field: 'events', message: "Enter your server's word for pending, or do not send this event." }]) // prettier-ignore
})

test('a recipe that anyone could follow, or that signs nothing, is refused', () => {
  const problemsOf = (given: Partial<Recipe>, url = 'https://example.com/?s={signature}') => {
    const signature: Recipe = { algorithm: 'md5', of: '{reward}{secret}', encoding: 'hex', header: null, ...given }
    return checkSettings(settingsOf({ url, dialect: { ...PLAIN, signature } }), guard).problems.map(({ message }) => message).join(' ') // prettier-ignore
  }
  assert.equal(problemsOf({}), '')
  assert.match(problemsOf({ of: '{reward}' }), /anyone could sign/)
  assert.match(problemsOf({ of: '{secret}' }), /same signature/)
  assert.match(problemsOf({ of: '{secret}{rewrd}' }), /did you mean \{reward\}/)
  assert.match(problemsOf({ of: '{sortedquery}{secret}' }), /did you mean \{sorted_query\}/)
  assert.match(problemsOf({ of: '{signature}{secret}' }), /cannot be part/)
  assert.match(problemsOf({}, 'https://example.com/'), /Add the signature to the URL/)
  assert.equal(problemsOf({ header: 'X-Hash' }, 'https://example.com/'), '')
  assert.match(problemsOf({ header: 'Host' }), /reserved/)
  assert.match(problemsOf({ header: 'a b' }), /not a valid header name/)
  assert.match(problemsOf({}, 'https://example.com/{signature}'), /whole value of a parameter/)
  assert.match(problemsOf({}, 'https://example.com/?a={signature}&b={signature}'), /must appear once/)
})

test('the secret is in no request and no log', () => {
  for (const { preset } of PRESETS) {
    const settings = { ...byPreset(preset), receiverSecret: 'correct-horse' }
    const request = build(settings)
    assert.ok(!JSON.stringify(request).includes('correct-horse'))
    assert.ok(!describeRequest(request, settings).includes('correct-horse'))
  }
})

const WORDS = ['{user_id}', '{secret}', '{reward}{secret}', '{sorted_query}', 'OK', '1', 'credited', 'X-Hash']
const anyText = fc.oneof(
  { weight: 12, arbitrary: fc.constantFrom(...WORDS) },
  { weight: 1, arbitrary: fc.constantFrom('{signature}', '{nothing}', '', ' ') },
  { weight: 1, arbitrary: fc.string({ unit: 'binary', maxLength: 12 }) },
)
const anyOrNot = <T>(one: fc.Arbitrary<T>) =>
  fc.oneof({ weight: 20, arbitrary: one }, { weight: 1, arbitrary: fc.jsonValue() })
const anyRecipe = fc.record({ algorithm: fc.constantFrom('md5', 'sha1', 'sha256', 'hmac-md5', 'hmac-sha1', 'hmac-sha256'), of: fc.array(anyText, { maxLength: 5 }).map((parts) => parts.join('')), encoding: fc.constantFrom('hex', 'hex_upper', 'base64'), header: fc.option(anyText) }, { requiredKeys: ['algorithm', 'of'] }) // prettier-ignore
const anyDialect = fc.record(
  {
    statuses: anyOrNot(fc.dictionary(fc.constantFrom('pending', 'approved', 'rejected', 'reversed'), anyText)),
    reward_decimals: anyOrNot(fc.option(fc.integer({ min: 0, max: 5 }))),
    payout_decimals: anyOrNot(fc.option(fc.integer({ min: -1, max: 6 }))),
    times: anyOrNot(fc.constantFrom('unix', 'unix_ms', 'iso', 'sql')),
    transaction_id: anyOrNot(fc.constantFrom('event', 'conversion')),
    ids: anyOrNot(fc.constantFrom('uuid', 'number')),
    post_body: anyOrNot(fc.constantFrom('json', 'form')),
    answers: anyOrNot(fc.array(anyText, { minLength: 1, maxLength: 3 })),
    signature: anyOrNot(fc.option(anyRecipe)),
  },
  { requiredKeys: [] },
)

test('whatever is given is either refused with sentences, or a dialect that renders', () => {
  let rendered = 0
  const url = fc.constantFrom('https://example.com/?s={signature}&u={user_id}', 'https://example.com/?u={user_id}&s={signature}', 'https://example.com/{status}') // prettier-ignore
  fc.assert(
    fc.property(
      anyDialect,
      url,
      fc.constantFrom('GET', 'POST'),
      fc.option(anyText),
      (given, template, method, secret) => {
        let dialect: Dialect
        try {
          dialect = readDialect(structuredClone(given))
        } catch (error) {
          assert.ok(error instanceof InvalidInput && error.problems.length > 0, String(error))
          for (const { message } of error.problems) assert.match(message, /^\S.*[.?]$/s)
          return
        }
        const settings = settingsOf({ url: template, method, dialect, receiverSecret: secret })
        const { problems } = checkSettings(settings, guard)
        for (const { message } of problems) assert.match(message, /[.?]$/)
        if (problems.length > 0) return
        rendered++
        for (const status of settings.events) {
          const request = build(settings, { status })
          assert.equal(new URL(request.url).href, request.url)
          assert.doesNotThrow(() => new Headers(request.headers))
          assert.deepEqual(build(settings, { status }), request, 'the same each time')
        }
      },
    ),
    { numRuns: 2_000 },
  )
  assert.ok(rendered > 30, `only ${rendered} were rendered`)
})
