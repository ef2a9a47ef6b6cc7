// The keys of the money path: by these the commands of a batch find what they share, in the maps of the decision
// context and as names of locks. Processes of two versions take the same locks while an upgrade is under way, so the text
// of a lock's name does not change.
import type { Confirmation, Report } from './commands.ts'

type User = { appId: number; isTest: boolean; userId: string }

/** The user and offer that a command is about. */
export type Subject = User & { offerId: number }

const modeOf = (isTest: boolean) => (isTest ? 't' : 'l')

/** A user of an app; a test user is another one. */
export const appUserKey = ({ appId, isTest, userId }: User) => `${appId}|${modeOf(isTest)}|${userId}`

/** A user on an offer: conversions with the same key can exclude each other. */
export const userKey = ({ appId, isTest, userId, offerId }: Subject) =>
  `${appId}|${modeOf(isTest)}|${offerId}|${userId}`

/** For what an app may do with an offer. */
export const appOfferKey = ({ appId, offerId }: { appId: number; offerId: number }) => `${appId}|${offerId}`

/** A user as a ban names one: live and test alike. */
export const banKey = ({ appId, userId }: { appId: number; userId: string }) => `${appId}|${userId}`

/** A transaction of an advertiser. */
export const transactionKey = ({ advertiserId, transactionId }: Confirmation) =>
  `${advertiserId}|${transactionId ?? ''}`

/** An Idempotency-Key of an app. */
export const idempotencyKey = ({ appId, isTest, idempotencyKey: key }: Report) =>
  `${appId}|${modeOf(isTest)}|${key ?? ''}`

/** What an Idempotency-Key stands for: two reports with the same text are the same request. */
export const requestText = ({ userId, offerId, goalId, transactionId }: Report) =>
  JSON.stringify([userId, offerId, goalId, transactionId])

/** Counts the conversions of a user. */
export const userCountKey = (of: User) => `user ${appUserKey(of)}`

/** Begins the keys of all users of an IP address. */
export const addressCounts = (ip: string | null) => `address ${ip} `

/** Counts the other users of a user's IP address. */
export const addressCountKey = (of: User & { ip: string | null }) => `${addressCounts(of.ip)}${appUserKey(of)}`

/** The names of locks. */
export const userLock = (subject: Subject) => `user ${userKey(subject)}`
export const idempotencyLock = (report: Report) => `key ${idempotencyKey(report)}`
export const transactionLock = ({ advertiserId, transactionId }: Confirmation, { offerId }: Subject) =>
  `transaction ${advertiserId}|${offerId}|${transactionId}`
export const addressLock = (ip: string) => `address ${ip}`
