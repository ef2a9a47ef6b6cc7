// Whether a locker can be used at all, and a link by this visitor: asked by every request about it.
import { AppError } from '../../errors.ts'
import type { AppCredential, Credentials } from '../apps/credentials.ts'
import type { KnownLocker } from './lockers.ts'

export type LockerProblem = 'unknown' | 'disabled' | 'taken_down' | 'expired' | 'full' | 'referrer' | 'banned'

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
  if (link.expires_at !== null && nowMs >= Date.parse(link.expires_at)) return 'expired'
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

export const PROBLEMS: Record<LockerProblem, { title: string; text: string; status: number }> = {
  unknown: { title: 'There is nothing here', text: 'Check the link, or ask where you found it.', status: 404 },
  disabled: { title: 'This is not available right now', text: 'Its owner has switched it off.', status: 410 },
  taken_down: { title: 'This was taken down', text: 'It broke the rules of this network.', status: 410 },
  expired: { title: 'This link has expired', text: 'Ask where you found it for a new one.', status: 410 },
  full: { title: 'This link is used up', text: 'It could be opened a number of times only.', status: 410 },
  referrer: {
    title: 'This link does not work from here',
    text: 'Open it from the page where its owner published it.',
    status: 403,
  },
  banned: { title: 'You cannot unlock this', text: 'Offers are no longer available to you here.', status: 403 },
}

export function refusalOf(problem: LockerProblem): AppError {
  const { title, text } = PROBLEMS[problem]
  return new AppError(problem === 'unknown' ? 'RESOURCE_NOT_FOUND' : 'INVALID_REQUEST', `${title}. ${text}`, {
    locker: problem,
  })
}

/** The credential of the locker's app, in this mode. Links have no test mode: a test would give the target away. */
export const credentialOf = (credentials: Credentials, locker: KnownLocker | null, isTest: boolean) =>
  locker === null || (isTest && locker.kind === 'link') ? undefined : credentials.ofApp(locker.appId, isTest)
