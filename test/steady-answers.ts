// Answers as examples: values that differ from run to run, such as IDs, times, keys and signatures, are replaced by values
// of the same form.
import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { PUBLIC_URL } from './world.ts'

const TIME = '2026-01-31T12:00:00Z'
const DAY_MS = 86_400_000
const STEADY: Record<string, unknown> = {
  timestamp: 1_769_860_800,
  request_id: 'req_8Kd02mVqYt3b1',
  duration_ms: 38,
  took_ms: 38,
}
/** Days, but for those in times. */
const DAYS = /\b20\d\d-\d\d-\d\d\b(?!T)/g

/** The same with values that do not change from run to run. */
function steady(answers: Record<string, unknown>): unknown {
  const ids = new Map<string, string>()
  const idOf = (id: string) => {
    const known = ids.get(id) ?? `019c1398-6c00-7000-8000-${String(ids.size + 1).padStart(12, '0')}`
    ids.set(id, known)
    return known
  }
  // The last day is that of the times, and the others are as long before it as they are.
  const last = Math.max(0, ...[...JSON.stringify(answers).matchAll(DAYS)].map(([day]) => Date.parse(day)))
  const dayOf = (day: string) =>
    new Date(Date.parse(TIME.slice(0, 10)) - Math.round((last - Date.parse(day)) / DAY_MS) * DAY_MS)
      .toISOString()
      .slice(0, 10)
  const text = (value: string) =>
    value
      .replaceAll(DAYS, dayOf)
      .replaceAll(/^20\d\d-\d\d$/g, TIME.slice(0, 7))
      .replaceAll(/[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}/g, idOf)
      .replaceAll(/\d{4}-\d\d-\d\dT[\d:]+(\.\d{3})?Z/g, TIME)
      .replaceAll(/\/c\/(\d+)\/.*/g, '/c/$1/1:l:1769860800:req_8Kd02mVqYt3b1:user-42:01tFA1SIUVs4yZhm98gb8V')
      .replaceAll(PUBLIC_URL, 'https://offers.example.com')
      .replaceAll(/http:\/\/127\.0\.0\.1:\d+/g, 'https://publisher.example.com')
      .replaceAll('127.0.0.1', '203.0.113.7')
      // how many people the process has made for other tests
      .replaceAll(/\bperson-\d+@/g, 'person-0@')
      .replaceAll(/\bPerson \d+\b/g, 'Person 0')
      .replaceAll(/\b10(\.\d+){3}\b/g, '10.0.0.1')
      .replaceAll(
        /locker\.v1\.(\d+)\.[\w.-]+/g,
        'locker.v1.$1.9f2c41d07be84a5f8d3360c1a7e5b924.019c1398-6c00-7000-8000-000000000001.1769861400.EXAMPLE',
      ) // prettier-ignore
      .replaceAll(
        /^(\d{10}\.)?[\w-]{43}$/g,
        (_, time?: string) => `${time === undefined ? '' : '1769860800.'}W9KVY4bqOn12XgvGk6L5SHoZi0fe0IeAQfqSB3GSxFo`,
      ) // prettier-ignore
      .replaceAll(/^[\da-f]{32}$/g, '9f2c41d07be84a5f8d3360c1a7e5b924')
      .replaceAll(/v1,[\w+/=]{44}/g, 'v1,zZ1mAUl6nbX4dXfUe3zkOqyB2Z0bYBz4lwUy5a9rZ5o=')
      .replaceAll(/\b(pk_live|pk_test|sk_live|sk_test|whsec|adv|inv|mt)_[\w+/=]{20,}/g, '$1_EXAMPLE')
      .replaceAll(/^[\w]{5}-[\w]{5}$/g, 'aB3dE-fG7hJ')
      .replaceAll(/(otpauth:.*secret=)\w+/g, '$1JBSWY3DPEHPK3PXP')
      .replaceAll(/(webhook-timestamp: )\d+/g, '$11769860800')
      .replaceAll(/\w{3}, \d\d \w{3} \d{4} [\d:]{8} GMT/g, 'Sat, 31 Jan 2026 12:00:00 GMT')
  return JSON.parse(JSON.stringify(answers), (key, value: unknown) => {
    if (key in STEADY) return STEADY[key]
    return typeof value === 'string' ? text(value) : value
  })
}

/** Compares them with those in the file, or writes them there. */
export function checkExamples(answers: Record<string, unknown>, file: string): void {
  const recorded = steady(answers)
  if (process.env['UPDATE_DOCS'] !== undefined) return writeFileSync(file, `${JSON.stringify(recorded, null, 2)}\n`)
  const stale = `${file} is stale: UPDATE_DOCS=1 npm test -- test/examples.test.ts test/manage-examples.test.ts && npm run format`
  assert.deepEqual(recorded, JSON.parse(readFileSync(file, 'utf8')), stale)
}
