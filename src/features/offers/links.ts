// The token in a link identifies app, user, sub-IDs, request and time, and the locker that the link is in. It is signed, not secret, and created once for a
// whole response; the offer is beside it in the path.
//
// It is plain text, its parts separated by colons, the signature last. Plain, because it is created on every request:
// JSON and base64 would cost as much again as the signature. Characters that a router or a mail program might change
// are written as ~ and two hexadecimal digits.
import { timingSafeEqual } from 'node:crypto'
import { createMac } from '../../lib/hmac.ts'
import { deriveKeys } from '../../lib/keys.ts'

const VERSION = '1'
/** With a locker, between user and sub-IDs. */
const LOCKER_VERSION = '2'
const SIGNATURE_LENGTH = 22 // base64url characters: 132 bits

export type LinkContext = {
  appId: number
  isTest: boolean
  /** Unix seconds. */
  issuedAt: number
  requestId: string
  userId: string
  subIds: readonly (string | null)[] | null
  /** The locker that the link is in, if any. */
  lockerId: number | null
  /** The page that showed the offer named another country than that of its visitor. */
  claimsCountry: boolean
}

export type LinkSigner = {
  /** Most links are in no locker. */
  sign(context: Omit<LinkContext, 'lockerId' | 'claimsCountry'> & Partial<LinkContext>): string
  /** What a token says, or null when it is not one of ours. */
  read(token: string): LinkContext | null
}

export function createLinkSigner(secretKey: string): LinkSigner {
  const macs = deriveKeys(secretKey, 'link tokens').map(createMac) as [(text: string) => string]
  const [mac] = macs
  const isSigned = (text: string, signature: string) => {
    const given = Buffer.from(signature)
    if (given.length !== SIGNATURE_LENGTH) return false
    return macs.some((one) => timingSafeEqual(given, Buffer.from(one(text).slice(0, SIGNATURE_LENGTH))))
  }
  return {
    sign({ appId, isTest, issuedAt, requestId, userId, subIds, lockerId = null, claimsCountry = false }) {
      const version = lockerId === null ? VERSION : LOCKER_VERSION
      let text = `${version}:${appId}:${modeOf(isTest, claimsCountry)}:${issuedAt}:${requestId}:${encode(userId)}`
      if (lockerId !== null) text += `:${lockerId}`
      if (subIds !== null) for (const subId of subIds) text += `:${subId === null ? '' : encode(subId)}`
      return `${text}:${mac(text).slice(0, SIGNATURE_LENGTH)}`
    },
    read(token) {
      const cut = token.lastIndexOf(':')
      const text = token.slice(0, cut)
      if (cut === -1 || !isSigned(text, token.slice(cut + 1))) return null
      const [version, appId = '', mode, issuedAt = '', requestId = '', userId = '', ...rest] = text.split(':')
      if (version !== VERSION && version !== LOCKER_VERSION) return null
      const [lockerId, subIds] = version === VERSION ? [null, rest] : [Number(rest[0]), rest.slice(1)]
      return {
        appId: Number(appId),
        isTest: mode === 't' || mode === 'T',
        claimsCountry: mode === 'L' || mode === 'T',
        issuedAt: Number(issuedAt),
        requestId,
        userId: decode(userId),
        subIds: subIds.length === 0 ? null : subIds.map((subId) => (subId === '' ? null : decode(subId))),
        lockerId,
      }
    },
  }
}

/** In capitals where a country is claimed. */
const modeOf = (isTest: boolean, claimsCountry: boolean) => (claimsCountry ? (isTest ? 'T' : 'L') : isTest ? 't' : 'l')

const PLAIN = /^[\w.-]*$/

function encode(text: string): string {
  if (PLAIN.test(text)) return text
  const escaped = encodeURIComponent(text).replaceAll(/[~!'()*]/g, (c) => `%${c.charCodeAt(0).toString(16)}`)
  return escaped.replaceAll('%', '~')
}

function decode(text: string): string {
  return text.includes('~') ? decodeURIComponent(text.replaceAll('~', '%')) : text
}
