// Whether a locker can be used at all, and a link by this visitor: asked by every request about it.
import { AppError } from '../../errors.ts'
import { parseTime } from '../../lib/time.ts'
import type { AppCredential, Credentials } from '../apps/credentials.ts'
import type { KnownLocker } from './lockers.ts'
import { type LockerProblem, PROBLEM_TEXTS } from './problem-texts.ts'

/** A link of another kind of locker, or a key that is closed, is not told apart from one that does not exist. */
export function problemOf(
  locker: KnownLocker | null,
  credential: AppCredential | undefined,
  nowMs: number,
): LockerProblem | null {
  if (locker === null || credential === undefined || nowMs >= credential.expiresAtMs) return 'unknown'
  if (credential.kind === 'tracking') return 'unknown'
  if (locker.isTakenDown) return 'taken_down'
  if (!locker.settings.enabled) return 'disabled'
  const { link } = locker.settings
  if (link === null) return null
  if (link.expires_at !== null && nowMs >= (parseTime(link.expires_at)?.getTime() ?? 0)) return 'expired'
  return link.click_limit !== null && locker.opened >= link.click_limit ? 'full' : null
}

/** Whether a visitor may come from there. `referrer` is the Referer header. */
export function mayComeFrom(
  { settings: { link } }: KnownLocker,
  referrer: string | undefined,
  publicUrl: string,
): boolean {
  if (link === null || link.referrers.length === 0) return true
  const origin = URL.parse(referrer ?? '')?.origin ?? null
  if (origin === null) return link.allows_no_referrer
  return origin === new URL(publicUrl).origin || link.referrers.includes(origin)
}

/** Of the page that says so. */
export const PROBLEM_STATUS: Record<LockerProblem, number> = {
  unknown: 404,
  disabled: 410,
  taken_down: 410,
  expired: 410,
  full: 410,
  referrer: 403,
  banned: 403,
  stale: 403,
  busy: 503,
}

/** In English, for programs: pages say it in the language of the visitor. */
export function refusalOf(problem: LockerProblem): AppError {
  const { title, text } = PROBLEM_TEXTS.en[problem]
  return new AppError(problem === 'unknown' ? 'RESOURCE_NOT_FOUND' : 'INVALID_REQUEST', `${title}. ${text}`, {
    locker: problem,
  })
}

/** The credential of the locker's app, in this mode. Links have no test mode: a test would give the target away. */
export const credentialOf = (credentials: Credentials, locker: KnownLocker | null, isTest: boolean) =>
  locker === null || (isTest && locker.kind === 'link') ? undefined : credentials.ofApp(locker.appId, isTest)
