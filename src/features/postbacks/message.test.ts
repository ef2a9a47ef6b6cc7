import assert from 'node:assert/strict'
import { test } from 'node:test'
import { buildRequest, describeRequest, tooLong } from './message.ts'
import { DEFAULTS, type PostbackSettings } from './settings.ts'
import { EXAMPLE_VALUES } from './template.ts'

const SECRET = `whsec_${Buffer.from('the example of a signing secret!').toString('base64')}`
const content = (userId: string, data: object = {}) => ({
  body: { id: 'e1', type: 'conversion.approved', created_at: '2026-01-01T00:00:00Z', sequence: 3, data },
  macros: { ...EXAMPLE_VALUES, user_id: userId, sequence: 3 },
})
const build = (settings: Partial<PostbackSettings>, userId: string, data?: object) => {
  const whole = { ...DEFAULTS, url: 'https://example.com/', ...settings }
  return { whole, request: buildRequest(content(userId, data), whole, [SECRET], new Date()) }
}

test('a template that holds a long value many times is not sent, and says why', () => {
  const url = `https://example.com/?${'a={user_id}&'.repeat(100)}`
  assert.equal(tooLong(build({ url }, 'u'.repeat(100)).request), null)
  assert.match(tooLong(build({ url }, 'u'.repeat(1_000)).request) ?? '', /characters once its macros are filled in/)
  const body = build({ method: 'POST' }, 'u', { long: 'x'.repeat(70_000) })
  assert.match(tooLong(body.request) ?? '', /body has/)
})

test('the log keeps no more of a request than is of use', () => {
  const { request, whole } = build({ method: 'POST' }, 'u', { long: 'x'.repeat(60_000) })
  const text = describeRequest(request, whole)
  assert.ok(text.length < 17_000)
  assert.match(text, /^POST https:\/\/example\.com\/\n[\s\S]*characters more$/)
})

test('{sequence} shows a receiver of GETs which event is the later one', () => {
  assert.equal(build({ url: 'https://example.com/?n={sequence}' }, 'u').request.url, 'https://example.com/?n=3')
})
