// Signs who looks at a wall. The publisher's server signs the user's ID with the app's signing secret; without that, a
// page could name any user.
//
// Signed is "wall.v1", the API key, the time at which the signature expires and the user's ID, each on its own line. The
// ID comes last, because it is the only part that may contain a line break.
import { isSameText, signText } from '../postbacks/signing.ts'

/** A page that stays open for a day still works; a link that was shared does not for long. */
export const MAX_LIFE_S = 86_400
/** How far the publisher’s clock may be ahead, when a whole day is signed. */
const SKEW_S = 300

export type SignedUser = { apiKey: string; userId: string; expiresAtS: number }

const textOf = ({ apiKey, userId, expiresAtS }: SignedUser) => `wall.v1\n${apiKey}\n${expiresAtS}\n${userId}`

/** In lower-case hex. `secret` is `whsec_` and base64. */
export const signUser = (secret: string, user: SignedUser): string => signText(secret, textOf(user))

export type SignatureProblem = 'expired' | 'too_long' | 'wrong'

/** Null when one of the secrets signed it: two do while one replaces the other. */
export function checkSignature(
  secrets: readonly string[],
  user: SignedUser,
  signature: string,
  nowS: number,
): SignatureProblem | null {
  if (!secrets.some((secret) => isSameText(signature.toLowerCase(), signUser(secret, user)))) return 'wrong'
  if (user.expiresAtS <= nowS) return 'expired'
  return user.expiresAtS > nowS + MAX_LIFE_S + SKEW_S ? 'too_long' : null
}
