import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as betterAuth from 'better-auth/crypto'
import { hashPassword, verifyPassword } from './password-hash.ts'

const PASSWORD = 'correct horse battery'

test('a new hash has the cost of better-auth, unless a test chooses less', async () => {
  const module = new URL('./password-hash.ts?as-it-starts', import.meta.url).href // as no test has changed it
  const { hashPassword: hashAtStart } = (await import(module)) as { hashPassword: typeof hashPassword }
  const hash = await hashAtStart(PASSWORD)
  assert.match(hash, /^[0-9a-f]{32}:[0-9a-f]{128}$/)
  assert.equal(await betterAuth.verifyPassword({ hash, password: PASSWORD }), true)
})

test('a password matches its own hash, with and without a cost in it, and no other password does', async () => {
  for (const hash of [await hashPassword(PASSWORD, null), await hashPassword(PASSWORD, { N: 1_024, r: 8, p: 1 })]) {
    assert.equal(await verifyPassword({ hash, password: PASSWORD }), true)
    assert.equal(await verifyPassword({ hash, password: `${PASSWORD}.` }), false)
    assert.equal(await verifyPassword({ hash: hash.slice(0, -1), password: PASSWORD }), false)
  }
})

test('a password that is typed with composed or with combining letters is the same', async () => {
  const hash = await hashPassword('na\u00efve enough', { N: 2, r: 8, p: 1 })
  assert.equal(await verifyPassword({ hash, password: 'nai\u0308ve enough' }), true)
})
