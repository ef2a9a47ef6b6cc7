import type { IssuedCredentials } from '../../src/features/apps/keys.ts'
import { signUser } from '../../src/features/wall/signature.ts'

export const wallUrl = (server: string, keys: IssuedCredentials, more: Record<string, string> = {}): string =>
  `${server}/wall?${new URLSearchParams({ apiKey: keys.api_key, userId: 'ann', platform: 'web', ...more }).toString()}`

/** The parameters of a signed user. */
export function signed(keys: IssuedCredentials, userId = 'ann', lifeS = 600): Record<string, string> {
  const expiresAtS = Math.floor(Date.now() / 1000) + lifeS
  const sig = signUser(keys.signing_secret, { apiKey: keys.api_key, userId, expiresAtS })
  return { userId, exp: String(expiresAtS), sig }
}
