// A backup is opened by every tool that knows age, and opens what those made.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Decrypter, Encrypter } from 'age-encryption'
import { decryptWith, encryptWith, sealing } from './passphrase.ts'

const TEXT = 'all that was earned'

test('what we encrypt is opened by the library of age', async () => {
  const encrypter = new Encrypter()
  encrypter.addRecipient(encryptWith('correct horse'))
  const sealed = await encrypter.encrypt(TEXT)
  assert.equal(sealing.workFactor, 18, 'another test did not put it back')
  assert.match(Buffer.from(sealed).toString('latin1'), /-> scrypt \S+ 18\n/)
  const decrypter = new Decrypter()
  decrypter.addPassphrase('correct horse')
  assert.equal(await decrypter.decrypt(sealed, 'text'), TEXT)
  const ours = new Decrypter()
  ours.addIdentity(decryptWith('another horse'))
  await assert.rejects(ours.decrypt(sealed), /no identity matched/)
})

test('what the library encrypts is opened by us', async () => {
  const encrypter = new Encrypter()
  encrypter.setPassphrase('pässword')
  encrypter.setScryptWorkFactor(10)
  const sealed = await encrypter.encrypt(TEXT)
  const decrypter = new Decrypter()
  decrypter.addIdentity(decryptWith('pässword'))
  assert.equal(await decrypter.decrypt(sealed, 'text'), TEXT)
})

test('a header that asks for too much work is refused at once', async () => {
  const encrypter = new Encrypter()
  encrypter.setPassphrase('correct horse')
  encrypter.setScryptWorkFactor(10)
  const sealed = Buffer.from(await encrypter.encrypt(TEXT))
  for (const [factor, problem] of [
    ['30', /too high/],
    ['-1', /invalid/],
    ['x1', /invalid/],
  ] as const) {
    // prettier-ignore
    const header = sealed.toString('latin1').replace(/(-> scrypt \S+ )\d+/, `$1${factor}`)
    const decrypter = new Decrypter()
    decrypter.addIdentity(decryptWith('correct horse'))
    await assert.rejects(decrypter.decrypt(Buffer.from(header, 'latin1')), problem)
  }
})
