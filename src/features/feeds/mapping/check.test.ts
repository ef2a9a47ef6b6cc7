import assert from 'node:assert/strict'
import { test } from 'node:test'
import { PRESETS } from '../presets/presets.ts'
import { checkMapping, checkRequest } from './check.ts'

const MAPPING = {
  offers: 'data',
  id: 'id',
  name: 'title',
  payout: 'amount',
  link: { path: 'url', append: '{click_id}' },
}
const REQUEST = { method: 'GET', url: 'https://api.example.com/offers', paging: { kind: 'one' } }
const places = (value: unknown) => checkMapping(value).map(({ field }) => field.replace(/^mapping\.?/, ''))
const says = (change: object) => checkMapping({ ...MAPPING, ...change }).map(({ message }) => message)

test('every preset is a request and a mapping without a problem', () => {
  for (const { key, mapping, request, credentials } of PRESETS) {
    assert.deepEqual(checkMapping(mapping), [], key)
    assert.deepEqual(checkRequest(request, credentials.map(({ name }) => name)), [], key) // prettier-ignore
  }
})

test('what is wrong is named by its place, with what would be right', () => {
  assert.deepEqual(checkMapping(MAPPING), [])
  for (const nothing of [null, undefined, 7, 'x', []]) assert.deepEqual(places(nothing), [''])
  assert.deepEqual(places({}), ['offers', 'id', 'name', 'link'])
  assert.match(says({ titel: 'x' })[0] ?? '', /^titel is not a known name here\. Use offers, success,/)
  assert.match(
    says({ name: { path: 'a[' } })[0] ?? '',
    /^name\.path is not a path: "a\[" has a bracket that is not closed/,
  )
  assert.deepEqual(says({ name: { path: ['a', 7] } }), ['name.path[1] must be a path such as offers[].name.'])
  assert.deepEqual(says({ payout: { path: 'a', take: 'all' } }), ['payout.take must be first, only, sum or highest.'])
  assert.deepEqual(says({ success: { path: 'status' } }), ['success must have one of is, not and empty.'])
  assert.deepEqual(says({ category: { path: 'a', words: { games: 7 } } }), ['category.words.games must be text of at most 2,000 characters.']) // prettier-ignore
  assert.match(says({ payout: undefined })[0] ?? '', /^payout is missing, and so is goals/)
  assert.match(says({ link: { path: 'url' } })[0] ?? '', /^link must put \{click_id\} somewhere/)
  assert.deepEqual(says({ goals: { list: 'steps', name: 'name' } }), ['goals.payout is missing.'])
})

test('a request names the credentials that it needs, and where it goes', () => {
  const of = (change: object, ...names: string[]) => checkRequest({ ...REQUEST, ...change }, names).map(({ message }) => message) // prettier-ignore
  assert.deepEqual(of({}), [])
  assert.deepEqual(of({ headers: { 'X-Key': '{key}', 'X-Time': '{timestamp}' } }), ['The request needs {key}, and there is no such credential.']) // prettier-ignore
  assert.deepEqual(of({ headers: { 'X-Key': '{key}' } }, 'key'), [])
  for (const url of ['ftp://x.example.com', 'nowhere', 'https://', 7, 'javascript:alert(1)']) assert.deepEqual(of({ url }), ['url must be a URL that begins with https://.'], String(url)) // prettier-ignore
  assert.deepEqual(of({ url: 'https://a:b@x.example.com/' }), ['url must not have a password in it: use auth.'])
  assert.deepEqual(of({ url: 'https://api-{tenant}.example.com/' }, 'tenant'), [])
  assert.deepEqual(of({ paging: { kind: 'pages' } }), ['paging.kind must be one, page, offset or next.'])
  assert.deepEqual(of({ paging: { kind: 'offset', parameter: 'skip' } }), ['paging.size is missing.'])
  assert.deepEqual(of({ auth: { kind: 'oauth' } }), ['auth.kind must be basic, bearer, exchange or signature.'])
  assert.deepEqual(of({ pause_ms: -1 }), ['pause_ms must be a whole number from 0 to 60,000.'])
})
