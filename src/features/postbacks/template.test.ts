import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { exampleUrl } from './message.ts'
import { DEFAULTS } from './settings.ts'
import { verifyUrl } from './signing.ts'
import { EXAMPLE_VALUES, fillTemplate, lintTemplate, MACROS, type MacroName, type MacroValues } from './template.ts'

const GOOD = 'https://example.com/cb?user={user_id}&tx={transaction_id}&status={status}&test={is_test}'
const EXAMPLE_SECRET = `whsec_${Buffer.from('the example of a signing secret!').toString('base64')}`
const NAMES = Object.keys(EXAMPLE_VALUES) as (keyof MacroValues)[]

const unsigned = (): string => assert.fail('There is nothing to sign.')
const fill = (template: string, values: Partial<MacroValues>) =>
  fillTemplate(template, { ...EXAMPLE_VALUES, ...values }, unsigned)
const errorsOf = (template: string) => lintTemplate(template).errors.join(' ')
const warningsOf = (template: string) => lintTemplate(template).warnings.join(' ')

const anyText = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.string({ unit: fc.constantFrom('.', '/', '\\', '%', '2', 'e', 'E', '&', '=', '?', '#', '+', ' ', '\0', '\n') }),
  fc.constantFrom('.', '..', '%2e', '%2E%2e', '../..', '@evil.example', '//evil.example', '{user_id}', '~0~user_id~0~'),
)
const anyValues: fc.Arbitrary<MacroValues> = fc.record(
  Object.fromEntries(
    NAMES.map((name) => [name, fc.oneof(anyText, fc.constant(null), fc.boolean(), fc.double({ noNaN: true }))]),
  ) as Record<keyof MacroValues, fc.Arbitrary<string | number | boolean | null>>,
)
const textOf = (value: string | number | boolean | null) =>
  value === null ? '' : typeof value === 'boolean' ? String(Number(value)) : String(value)

test('values are percent-encoded, absent ones are empty, booleans are digits', () => {
  assert.equal(
    fill('https://example.com/cb?a={aff_sub}&b={aff_sub2}&c={aff_sub3}&d={is_test}&e={payout}', {
      aff_sub: "a&b=c !'()*~é",
      aff_sub2: null,
      aff_sub3: '😀',
      is_test: true,
      payout: -1.25,
    }),
    'https://example.com/cb?a=a%26b%3Dc%20%21%27%28%29%2A~%C3%A9&b=&c=%F0%9F%98%80&d=1&e=-1.25',
  )
  assert.equal(fill('https://example.com/?t={is_test}', { is_test: false }), 'https://example.com/?t=0')
  assert.equal(fill('https://example.com/?t={aff_sub}', { aff_sub: '\ud800' }), 'https://example.com/?t=%EF%BF%BD')
})

test('a template is sent in the form that URL parsers give it', () => {
  for (const [template, sent] of [
    ['HTTPS://Bücher.example:443/ä/../ö?q=ü&u={user_id}', 'https://xn--bcher-kva.example/%C3%B6?q=%C3%BC&u=user-1'],
    ['https://example.com', 'https://example.com/'],
    ['https://example.com?u={user_id}', 'https://example.com/?u=user-1'],
    ['http:\\\\example.com\\a\\{user_id}', 'http://example.com/a/user-1'],
    [' https://example.com/?u={us\ner_id} \n', 'https://example.com/?u=user-1'],
    ['https://example.com/?a[]={user_id}|x&j={"u":1}', 'https://example.com/?a%5B%5D=user-1%7Cx&j=%7B%22u%22:1%7D'],
    ['https://example.com/?off=100%&u=%{user_id}', 'https://example.com/?off=100%25&u=%25user-1'],
    ['https://example.com/?u={user_id}#top', 'https://example.com/?u=user-1'],
    ['https://[2001:DB8::1]:8080/{user_id}', 'https://[2001:db8::1]:8080/user-1'],
  ] as const) {
    assert.equal(fill(template, {}), sent)
    assert.equal(new URL(sent).href, sent)
  }
})

test('a value in the path stays in its folder, dots or not', () => {
  const inPath = (template: string, aff_sub: string) => fill(`https://example.com${template}`, { aff_sub }).slice(19)
  assert.equal(inPath('/a/{aff_sub}/x', '..'), '/a/%252E%252E/x')
  assert.equal(inPath('/a/{aff_sub}/x', '.'), '/a/%252E/x')
  assert.equal(inPath('/a/{aff_sub}', '..'), '/a/%252E%252E')
  assert.equal(inPath('/a/.{aff_sub}/x', '.'), '/a/%252E%252E/x')
  assert.equal(inPath('/a/%2e{aff_sub}/x', '.'), '/a/%252E%252E/x')
  assert.equal(inPath('/a/..{aff_sub}/x', ''), '/a/%252E%252E/x')
  assert.equal(inPath('/a/{aff_sub}{aff_sub}/x', '.'), '/a/%252E%252E/x')
  assert.equal(inPath('/a/%2{aff_sub}/x', 'e'), '/a/%252e/x')
  assert.equal(inPath('/a/{aff_sub}/x', '%2e%2e'), '/a/%252e%252e/x')
  assert.equal(inPath('/a/{aff_sub}/x', '../..'), '/a/..%2F../x')
  assert.equal(inPath('/a/{aff_sub}/x', '...'), '/a/.../x')
  assert.equal(inPath('/{aff_sub}/x', ''), '//x')
})

test('whatever the values are, the query gives them back and nothing around them moves', () => {
  const query = NAMES.map((name) => `p_${name}={${name}}`).join('&')
  const template = `https://example.com/a/{aff_sub}/b{offer_name}c/{aff_sub2}{aff_sub3}/d?${query}&end=1`
  fc.assert(
    fc.property(anyValues, (values) => {
      const sent = fillTemplate(template, values, unsigned)
      const url = new URL(sent)
      assert.equal(url.href, sent)
      assert.equal(url.origin, 'https://example.com')
      assert.equal(url.hash, '')
      assert.deepEqual(
        [...url.searchParams],
        [...NAMES.map((name) => [`p_${name}`, textOf(values[name]).toWellFormed()]), ['end', '1']],
      )
      const [, a, , b, , d, ...rest] = url.pathname.split('/')
      assert.deepEqual([a, d, rest], ['a', 'd', []])
      assert.equal(decodeURIComponent(b ?? ''), `b${textOf(values.offer_name).toWellFormed()}c`)
    }),
  )
})

test('whatever is accepted as a template is sent as parsers have it, to the host of the template', () => {
  const piece = fc.oneof(
    fc.constantFrom(
      ...NAMES.map((name) => `{${name}}`),
      '/',
      '//',
      '..',
      '.',
      '%2e',
      '%',
      '%2',
      '?',
      '&',
      '=',
      '~0~',
      '~0',
    ),
    fc.string({ unit: 'binary', maxLength: 4 }),
  )
  let accepted = 0
  fc.assert(
    fc.property(fc.array(piece), anyValues, fc.boolean(), (pieces, values, isSigned) => {
      const template = `https://example.com/${pieces.join('')}${isSigned ? '&s={signature}' : ''}`
      if (lintTemplate(template).errors.length > 0) return
      accepted++
      const sent = fillTemplate(template, values, () => 'abc')
      const url = new URL(sent)
      assert.equal(url.href, sent)
      assert.equal(url.origin, 'https://example.com')
      const plain = new URL(fillTemplate(template, { ...EXAMPLE_VALUES, status_reason: 'x' }, () => 'abc'))
      assert.equal(url.pathname.split('/').length, plain.pathname.split('/').length)
      assert.equal(url.search.split('&').length, plain.search.split('&').length)
      if (isSigned) assert.match(sent, /&s=abc$/)
    }),
    { numRuns: 1_000 },
  )
  assert.ok(accepted > 100)
})

test('the signature covers the whole URL before it, and is put at its end', () => {
  const template = `${GOOD}&sig={signature}#top`
  const asked: string[] = []
  const sent = fillTemplate(template, EXAMPLE_VALUES, (url) => {
    asked.push(url)
    return 'beef'
  })
  assert.deepEqual(asked, [fill(`${GOOD}&sig=`, {})])
  assert.equal(sent, `${asked[0]}beef`)
})

test('a preview is a whole postback, signed with an example', () => {
  const all = (Object.keys(MACROS) as MacroName[]).map((name) => `${name}={${name}}`).join('&')
  const preview = exampleUrl({ ...DEFAULTS, url: `https://example.com/?${all}` })
  assert.ok(verifyUrl([EXAMPLE_SECRET], preview))
  assert.equal(new URL(preview).searchParams.get('aff_sub2'), MACROS.aff_sub2.example)
  assert.equal(new URL(preview).searchParams.get('status_reason'), '')
  assert.match(MACROS.signature.example, /^[0-9a-f]{64}$/)
})

test('a good template has neither problems nor warnings', () => {
  for (const template of [GOOD, `${GOOD}&s={signature}`, 'http://example.com/{user_id}/{event_id}/{status}/{is_test}'])
    assert.deepEqual(lintTemplate(template), { errors: [], warnings: [] })
})

test('an unknown macro is a problem, and the nearest one is named', () => {
  for (const [wrong, right] of [
    ['userid', 'user_id'],
    ['USER_ID', 'user_id'],
    ['transactionId', 'transaction_id'],
    ['aff_sub5', 'aff_sub'],
    ['offer-name', 'offer_name'],
    ['state', 'status'],
    [' payout ', 'payout'],
    ['constructor', 'country'],
  ] as const)
    assert.ok(errorsOf(`${GOOD}&x={${wrong}}`).includes(`no macro {${wrong}}: did you mean {${right}}?`), wrong)
  assert.throws(() => fill(`${GOOD}&x={userid}`, {}), RangeError)
})

test('macros in front of the path, or after #, are problems', () => {
  for (const template of [
    'https://{aff_sub}/x',
    'https://{aff_sub}.example.com/x',
    'https://example.com{aff_sub}/x',
    'https://example.com{aff_sub}',
    'https:example.{aff_sub}',
    'https:\\\\{aff_sub}\\x',
    'https:////{aff_sub}/x',
    'https://example.com:{aff_sub}/x',
    'https://example.com:80{aff_sub}/x',
    'https://{user_id}@example.com/x',
    'https://user:{user_id}@example.com/x',
    '{status}://example.com/x',
    '{aff_sub}',
    'htt\nps://exam\tple.{co\nuntry}/x',
  ])
    assert.match(errorsOf(template), /only in the path and the query/, template)
  assert.match(errorsOf('https://example.com/#{user_id}'), /after #/)
})

test('a URL that cannot be called is a problem', () => {
  for (const template of [
    '',
    'example.com/x',
    '/x?u={user_id}',
    'ftp://example.com/',
    'javascript:alert(1)',
    'https://',
  ])
    assert.match(errorsOf(template), /begins with https:\/\//, template)
  assert.match(errorsOf('https://me@example.com/'), /user name and password/)
  assert.match(errorsOf('https://me:secret@example.com/'), /user name and password/)
  assert.match(errorsOf(`https://example.com/${'x'.repeat(2_000)}`), /2000 characters/)
})

test('a signature anywhere but at the end is a problem', () => {
  for (const template of [
    'https://example.com/{signature}',
    'https://example.com/?s={signature}&u={user_id}',
    'https://example.com/?{signature}',
    'https://example.com/?s={signature}x',
    'https://example.com/?s={signature} #top',
    'https://example.com/?a={signature}&b={signature}',
    'https://example.com/s={signature}',
  ])
    assert.match(errorsOf(template), /last parameter/, template)
})

test('what would credit twice, or credit reversed conversions, is a warning', () => {
  assert.match(warningsOf('https://example.com/?s={status}'), /credited twice/)
  assert.match(warningsOf('https://example.com/?s={status}&c={conversion_id}'), /dropped as a duplicate/)
  assert.doesNotMatch(warningsOf('https://example.com/?c={conversion_id}&e={event_id}'), /duplicate|twice/)
  assert.match(warningsOf('https://example.com/?t={transaction_id}'), /look like credits/)
  assert.match(warningsOf(`${GOOD}&x={`), /outside a macro/)
  assert.match(warningsOf(`${GOOD}&x={{user_id}}`), /outside a macro/)
  assert.match(warningsOf(`${GOOD}&x=%7Buser_id%7D`), /outside a macro/)
  assert.match(warningsOf(`${GOOD}#top`), /never sent/)
  assert.deepEqual(lintTemplate('https://example.com/hook', { method: 'POST' }), { errors: [], warnings: [] })
})

test('what credits no user, or credits tests, is a warning for a GET; the body of a POST says it all', () => {
  const nobody = GOOD.replace('{user_id}', '1')
  const untested = GOOD.replace('{is_test}', '0')
  assert.deepEqual(lintTemplate(nobody), {
    errors: [],
    warnings: ['You cannot tell which user to credit: add {user_id}.'],
  })
  assert.deepEqual(lintTemplate(untested), {
    errors: [],
    warnings: ['Test postbacks look like live ones and may be credited: add {is_test}.'],
  })
  for (const template of [nobody, untested]) assert.deepEqual(lintTemplate(template, { method: 'POST' }).warnings, [])
})

test('all problems are reported at once', () => {
  const { errors, warnings } = lintTemplate('https://me@example.com/{nobody}/{signature}#{user_id}')
  assert.equal(errors.length, 4)
  assert.equal(warnings.length, 4)
})
