// What is said of requests that do not fit their schema.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type TSchema, Type } from 'typebox'
import { AppError } from '../errors.ts'
import { pattern } from './forms.ts'
import { compileValidator } from './validation.ts'

function check(httpPart: string, schema: TSchema, data: unknown) {
  const validate = compileValidator({ schema, httpPart, method: 'GET', url: '/' })
  const result = validate(data) as { value?: unknown; error?: unknown }
  return result.error instanceof AppError ? result.error.details : result.value
}

test('problems inside lists and objects are reported with their path, and with their own limits', () => {
  const Goal = Type.Object({ name: Type.String({ minLength: 1 }), payout: Type.Optional(Type.Number({ minimum: 0 })) })
  const schema = Type.Object({
    ids: Type.Array(Type.String({ maxLength: 3 }), { minItems: 1, maxItems: 2 }),
    goals: Type.Optional(Type.Array(Goal)),
    more: Type.Optional(Type.Object({ is_on: Type.Boolean() })),
  })
  assert.deepEqual(check('body', schema, { ids: ['abc', 'abcd'] }), {
    'ids.1': 'ids.1 must have at most 3 characters.',
  })
  assert.deepEqual(check('body', schema, { ids: 'abc' }), { ids: 'ids must be a list.' })
  assert.deepEqual(check('body', schema, { ids: [] }), { ids: 'ids must not be empty.' })
  assert.deepEqual(check('body', schema, { ids: ['a', 'b', 'c'] }), { ids: 'ids must have at most 2 items.' })
  assert.deepEqual(
    check('body', schema, { ids: ['a'], goals: [{ name: 'x' }, { payout: -1 }, 5], more: { is_on: 1 } }),
    {
      'goals.1.name': 'goals.1.name is required.',
      'goals.1.payout': 'goals.1.payout must be a number, 0 or more.',
      'goals.2': 'goals.2 must be an object.',
      'more.is_on': 'more.is_on must be true or false.',
    },
  )
  assert.deepEqual(check('body', schema, []), { body: 'Send a JSON object.' })
})

test('of what may be one of several, all of them are named', () => {
  const schema = Type.Object({
    amount: Type.Union([Type.Number(), Type.String({ maxLength: 2 }), Type.Null()]),
    kind: Type.Union([Type.Unsafe<'a' | 'b'>({ type: 'string', enum: ['a', 'b'] }), Type.Null()]),
  })
  assert.deepEqual(check('body', schema, { amount: [], kind: 1 }), {
    amount: 'amount must be a number, or a string, or null.',
    kind: 'kind must be one of: a, b.',
  })
  assert.deepEqual(check('body', schema, { amount: 'abc', kind: null }), {
    amount: 'amount must have at most 2 characters.',
  })
  const Link = Type.Object({ url: Type.String({ minLength: 1 }), color: Type.Optional(Type.String({ pattern: pattern('COLOR') })) }) // prettier-ignore
  const linked = Type.Object({ link: Type.Union([Link, Type.Null()]) })
  const asked = (link: unknown) => check('body', linked, { link })
  assert.deepEqual(asked(5), { link: 'link must be an object, or null.' })
  assert.deepEqual(asked({}), { 'link.url': 'link.url is required.' })
  assert.deepEqual(asked({ url: '', color: 'red' }), {
    'link.url': 'link.url must not be empty.',
    'link.color': 'link.color must be a color such as #1b5fd1.',
  })
})

test('what is wrong inside of an object that may be null is named alone', () => {
  const schema = Type.Object({
    sale: Type.Union([Type.Object({ factor: Type.Number({ exclusiveMinimum: 1, maximum: 10 }) }), Type.Null()]),
  })
  assert.deepEqual(check('body', schema, { sale: { factor: 11 } }), {
    'sale.factor': 'sale.factor must be a number above 1, at most 10.',
  })
})

test('numbers of a query are read as numbers, whole or not; of a body nothing is', () => {
  const schema = Type.Object({
    count: Type.Optional(Type.Integer()),
    rate: Type.Optional(Type.Number({ maximum: 5, minimum: 0 })),
  })
  assert.deepEqual(check('querystring', schema, { count: '12', rate: '1.5' }), { count: 12, rate: 1.5 })
  assert.deepEqual(check('querystring', schema, { count: '1.0', rate: '9' }), {
    count: 'count must be a whole number.',
    rate: 'rate must be a number from 0 to 5.',
  })
  assert.deepEqual(check('querystring', schema, { rate: ['1', '2'] }), { rate: 'rate must be sent only once.' })
  assert.deepEqual(check('body', schema, { count: '12' }), { count: 'count must be a whole number.' })
})

test('a number that is too small or too large gets the limit', () => {
  const schema = Type.Object({ amount: Type.Number({ exclusiveMinimum: 0, maximum: 999_999_999 }) })
  assert.deepEqual(check('body', schema, { amount: 0 }), { amount: 'amount must be a number above 0.' })
  assert.deepEqual(check('body', schema, { amount: 1e9 }), { amount: 'amount must be at most 999999999.' })
})
