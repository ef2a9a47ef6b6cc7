// The passphrase of a backup, as age uses it, with Node's own scrypt: the library's takes three times as long, and stops
// the whole process meanwhile.
import { createCipheriv, createDecipheriv, randomBytes, scrypt } from 'node:crypto'
import { type Identity, type Recipient, Stanza } from 'age-encryption'

/** Of new backups: as the library's, 256 MB and about a second. Tests of other things choose less. */
export const sealing = { workFactor: 18 }
const HIGHEST_WORK_FACTOR = 20
const LABEL = 'age-encryption.org/v1/scrypt'
const SALT_BYTES = 16
const TAG_BYTES = 16
const WRAPPED_BYTES = 32
const CIPHER = 'chacha20-poly1305'
const CIPHER_OPTIONS = { authTagLength: TAG_BYTES }
const NONCE = Buffer.alloc(12) // each key is used once

export const encryptWith = (passphrase: string): Recipient => ({
  async wrapFileKey(fileKey) {
    const salt = randomBytes(SALT_BYTES)
    const { workFactor } = sealing
    const cipher = createCipheriv(CIPHER, await deriveKey(passphrase, salt, workFactor), NONCE, CIPHER_OPTIONS)
    const wrapped = Buffer.concat([cipher.update(fileKey), cipher.final(), cipher.getAuthTag()])
    return [new Stanza(['scrypt', salt.toString('base64').replace(/=+$/, ''), String(workFactor)], wrapped)]
  },
})

export const decryptWith = (passphrase: string): Identity => ({
  async unwrapFileKey(stanzas) {
    const [stanza] = stanzas
    const [kind, salt = '', workFactor = ''] = stanza?.args ?? []
    if (stanza === undefined || kind !== 'scrypt') return null
    const isWhole = stanzas.length === 1 && stanza.args.length === 3 && stanza.body.length === WRAPPED_BYTES
    const saltBytes = Buffer.from(salt, 'base64')
    if (!isWhole || saltBytes.length !== SALT_BYTES || !/^[1-9]\d?$/.test(workFactor))
      throw new Error('invalid scrypt stanza')
    if (Number(workFactor) > HIGHEST_WORK_FACTOR) throw new Error('scrypt work factor is too high')
    const key = await deriveKey(passphrase, saltBytes, Number(workFactor))
    const decipher = createDecipheriv(CIPHER, key, NONCE, CIPHER_OPTIONS)
    decipher.setAuthTag(stanza.body.subarray(-TAG_BYTES))
    try {
      return Buffer.concat([decipher.update(stanza.body.subarray(0, -TAG_BYTES)), decipher.final()])
    } catch {
      return null // another passphrase
    }
  },
})

function deriveKey(passphrase: string, salt: Buffer, workFactor: number): Promise<Buffer> {
  const N = 2 ** workFactor
  const labelAndSalt = Buffer.concat([Buffer.from(LABEL), salt])
  return new Promise((resolve, reject) =>
    scrypt(passphrase, labelAndSalt, 32, { N, r: 8, p: 1, maxmem: 1_100 * N }, (error, key) =>
      error ? reject(error) : resolve(key),
    ),
  )
}
