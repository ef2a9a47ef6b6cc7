// The token in a link says for whom the link was made: app, user, sub-IDs, request, time. It is signed, not secret, and
// made once for a whole response; the offer stands beside it in the path.
import { timingSafeEqual } from 'node:crypto'
import { createMac } from '../../lib/hmac.ts'
import { deriveKey } from '../../lib/keys.ts'

const VERSION = 1
const MAC_LENGTH = 22 // base64url characters: 132 bits

export type LinkContext = {
  appId: number
  isTest: boolean
  /** Unix seconds. */
  issuedAt: number
  requestId: string
  userId: string
  subIds: readonly (string | null)[]
}

export type LinkSigner = {
  sign(context: LinkContext): string
  /** What a token says, or null when it is not one of ours. */
  read(token: string): LinkContext | null
}

export function createLinkSigner(secretKey: string): LinkSigner {
  const mac = createMac(deriveKey(secretKey, 'link tokens'))
  return {
    sign({ appId, isTest, issuedAt, requestId, userId, subIds }) {
      const body = Buffer.from(JSON.stringify([VERSION, appId, isTest ? 1 : 0, issuedAt, requestId, userId, ...subIds])).toString('base64url')
      return `${body}.${mac(body).slice(0, MAC_LENGTH)}`
    },
    read(token) {
      const [body = '', signature = '', ...rest] = token.split('.')
      const expected = Buffer.from(mac(body).slice(0, MAC_LENGTH))
      const given = Buffer.from(signature)
      if (rest.length > 0 || given.length !== expected.length || !timingSafeEqual(given, expected)) return null
      const [, appId, isTest, issuedAt, requestId, userId, ...subIds] = JSON.parse(Buffer.from(body, 'base64url').toString()) as [
        number,
        number,
        number,
        number,
        string,
        string,
        ...(string | null)[],
      ]
      return { appId, isTest: isTest === 1, issuedAt, requestId, userId, subIds }
    },
  }
}
