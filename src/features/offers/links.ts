// The token in a link says for whom the link was made: app, user, sub-IDs, request, time. It is signed, not secret, and
// made once for a whole response; the offer stands beside it in the path.
//
// It is plain text, its parts percent-encoded and set apart by colons, the signature last. Plain, because this is made
// on every request: JSON and base64 would cost as much again as the signature.
import { hash, timingSafeEqual } from 'node:crypto'
import { deriveKey } from '../../lib/keys.ts'

const VERSION = '1'
const SIGNATURE_LENGTH = 22 // base64url characters: 132 bits

export type LinkContext = {
  appId: number
  isTest: boolean
  /** Unix seconds. */
  issuedAt: number
  requestId: string
  userId: string
  subIds: readonly (string | null)[] | null
}

export type LinkSigner = {
  sign(context: LinkContext): string
  /** What a token says, or null when it is not one of ours. */
  read(token: string): LinkContext | null
}

export function createLinkSigner(secretKey: string): LinkSigner {
  const key = deriveKey(secretKey, 'link tokens').toString('base64')
  // SHA-256 over key and text, cut to 132 bits. HMAC guards against continuing a hash from its result; half a result is
  // nothing to continue from, and the key's length is fixed. One hash instead of two, on every request.
  const signatureOf = (text: string) => hash('sha256', key + text, 'base64url').slice(0, SIGNATURE_LENGTH)
  return {
    sign({ appId, isTest, issuedAt, requestId, userId, subIds }) {
      let text = `${VERSION}:${appId}:${isTest ? 't' : 'l'}:${issuedAt}:${requestId}:${encode(userId)}`
      if (subIds !== null) for (const subId of subIds) text += `:${subId === null ? '' : encode(subId)}`
      return `${text}:${signatureOf(text)}`
    },
    read(token) {
      const cut = token.lastIndexOf(':')
      const text = token.slice(0, cut)
      const given = Buffer.from(token.slice(cut + 1))
      const expected = Buffer.from(signatureOf(text))
      if (cut === -1 || given.length !== expected.length || !timingSafeEqual(given, expected)) return null
      const [, appId = '', mode, issuedAt = '', requestId = '', userId = '', ...subIds] = text.split(':')
      return {
        appId: Number(appId),
        isTest: mode === 't',
        issuedAt: Number(issuedAt),
        requestId,
        userId: decodeURIComponent(userId),
        subIds: subIds.length === 0 ? null : subIds.map((subId) => (subId === '' ? null : decodeURIComponent(subId))),
      }
    },
  }
}

const PLAIN = /^[\w.-]*$/

function encode(text: string): string {
  return PLAIN.test(text) ? text : encodeURIComponent(text)
}
