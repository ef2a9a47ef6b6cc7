import assert from 'node:assert/strict'
import { test } from 'node:test'
import { hashPassword, verifyPassword } from './password-hash.ts'

const PASSWORD = 'correct horse battery'

test('a password matches its own hash, with and without a cost in it, and no other password does', async () => {
  for (const hash of [await hashPassword(PASSWORD), await hashPassword(PASSWORD, { N: 1_024, r: 8, p: 1 })]) {
    assert.equal(await verifyPassword({ hash, password: PASSWORD }), true)
    assert.equal(await verifyPassword({ hash, password: `${PASSWORD}.` }), false)
    assert.equal(await verifyPassword({ hash: hash.slice(0, -1), password: PASSWORD }), false)
  }
})

test('a password that is typed with composed or with combining letters is the same', async () => {
  const hash = await hashPassword('na\u00efve enough', { N: 2, r: 8, p: 1 })
  assert.equal(await verifyPassword({ hash, password: 'nai\u0308ve enough' }), true)
})
