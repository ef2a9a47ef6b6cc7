// Signs who looks at a wall: "wall.v1", the API key, the time at which the signature expires and the user's ID, each on
// its own line. The ID comes last, because it is the only part that may contain a line break.
import { signHex } from './hmac.ts'

const USUAL_LIFE_MS = 3_600_000
const MAX_LIFE_MS = 86_400_000

export type WallUser = {
  /** `pk_live_…` or `pk_test_…` */
  apiKey: string
  /** The signing secret of the same key: `whsec_…` */
  signingSecret: string
  /** Your own ID of the user who is signed in. */
  userId: string
  /** In an hour by default; in a day at most. */
  expiresAt?: Date | undefined
  /** Instead of the present time. */
  now?: Date | undefined
}

/** What the page passes on: parameters of the wall's URL, or options of its script. */
export type SignedWallUser = { apiKey: string; userId: string; exp: string; sig: string }

export async function signWallUser({ apiKey, signingSecret, userId, ...times }: WallUser): Promise<SignedWallUser> {
  const nowMs = (times.now ?? new Date()).getTime()
  const expiresAtMs = times.expiresAt?.getTime() ?? nowMs + USUAL_LIFE_MS
  if (!(expiresAtMs > nowMs && expiresAtMs <= nowMs + MAX_LIFE_MS))
    throw new RangeError('expiresAt must be in the future, and at most a day from now.')
  if (typeof apiKey !== 'string' || !/^pk_\w+$/.test(apiKey)) throw new TypeError('apiKey must be a public key: pk_…')
  if (typeof userId !== 'string' || userId.trim() === '') throw new TypeError('userId must be text, and not blank.')
  const exp = String(Math.floor(expiresAtMs / 1_000))
  return { apiKey, userId, exp, sig: await signHex(signingSecret, `wall.v1\n${apiKey}\n${exp}\n${userId}`) }
}
