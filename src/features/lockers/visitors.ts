// Visitors of lockers are anonymous: the server gives each a random ID, and a key that proves it. The ID is the user's ID of
// clicks (`visitor-…`), so it is no secret; every call needs the key as well.
//
// A pass says that a visitor came to the page of a link from where the publisher allows it, and knew its password.
import { randomBytes } from 'node:crypto'
import { createMac } from '../../lib/hmac.ts'
import { deriveKeys } from '../../lib/keys.ts'
import { isSameText } from '../postbacks/signing.ts'
import type { KnownLocker } from './lockers.ts'

const ID_BYTES = 16
const PASS_LIFE_S = 12 * 3_600

/** A visitor belongs to one app, in one mode. */
export type LockerVisitor = { appId: number; isTest: boolean; visitorId: string }

type Passed = Pick<KnownLocker, 'lockerId' | 'passwordHash' | 'settings'>

export type VisitorKeys = {
  create(of: Omit<LockerVisitor, 'visitorId'>): { visitor: string; key: string }
  isProven(visitor: LockerVisitor, key: string): boolean
  pass(to: Passed, nowMs: number): string
  isPassed(to: Passed, pass: string, nowMs: number): boolean
}

/** Nothing where visitors may come from anywhere. */
function ruleText({ link }: KnownLocker['settings']): string {
  if (link === null || link.referrers.length === 0) return ''
  return `\n${JSON.stringify([link.referrers.toSorted(), link.allows_no_referrer])}`
}

export function createVisitorKeys(secretKey: string): VisitorKeys {
  const macs = deriveKeys(secretKey, 'locker visitors').map(createMac) as [(text: string) => string]
  const visitorText = ({ appId, isTest, visitorId }: LockerVisitor) =>
    `visitor\n${appId}\n${isTest ? 't' : 'l'}\n${visitorId}`
  // With the password's hash and the rule about referrers: one that was changed ends the passes of before.
  const passText = ({ lockerId, passwordHash, settings }: Passed, expiresAt: number) =>
    `pass\n${lockerId}\n${expiresAt}\n${passwordHash ?? ''}${ruleText(settings)}`
  const isSigned = (text: string, signature: string) => macs.some((mac) => isSameText(signature, mac(text)))
  return {
    create(of) {
      const visitor = randomBytes(ID_BYTES).toString('hex')
      return { visitor, key: macs[0](visitorText({ ...of, visitorId: visitor })) }
    },
    isProven: (visitor, key) => isSigned(visitorText(visitor), key),
    pass(to, nowMs) {
      const expiresAt = Math.floor(nowMs / 1000) + PASS_LIFE_S
      return `${expiresAt}.${macs[0](passText(to, expiresAt))}`
    },
    isPassed(to, pass, nowMs) {
      const [, expiresAt = '', signature = ''] = /^(\d{1,12})\.([\w-]{43})$/.exec(pass) ?? []
      return isSigned(passText(to, Number(expiresAt)), signature) && Number(expiresAt) * 1000 > nowMs
    },
  }
}

/** The user of a visitor's clicks and conversions. */
export const userOf = ({ appId, isTest, visitorId }: LockerVisitor) => ({
  appId,
  isTest,
  userId: `visitor-${visitorId}`,
})
