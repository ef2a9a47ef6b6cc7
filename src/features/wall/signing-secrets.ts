// The secrets that users of walls are signed with, as a process remembers them.
//
// A leaked secret must end soon after it was rotated, so what is remembered serves for two seconds and is then read again
// before it serves. Walls must not go down with the database: where it does not answer, what was known serves on, each
// secret until its own end.
import type { Db } from '../../db/open.ts'
import { Cache } from '../../lib/cache.ts'
import { inTime } from '../../lib/in-time.ts'
import type { AppCredential } from '../apps/credentials.ts'
import { readTimedSecrets, signingKeyOf, type TimedSecret } from '../apps/signing-secrets.ts'

const LIFE_MS = 2_000
/** A user waits for the database no longer than this. */
const PATIENCE_MS = 1_000
const REMEMBERED_APPS = 1_000

/** Those that sign now, at once in nearly all cases. */
export type SigningSecretsReader = (
  credential: Pick<AppCredential, 'appId' | 'isTest'>,
  nowMs: number,
) => string[] | Promise<string[]>

/** `awaited` ends with the reading, or when users have waited long enough for it. */
type Known = { secrets: TimedSecret[] | null; untilMs: number; reading: Promise<void> | null; awaited: Promise<void> }

const validAt = (nowMs: number, secrets: readonly TimedSecret[] | null) =>
  (secrets ?? []).filter(({ expiresAtMs }) => nowMs < expiresAtMs).map(({ secret }) => secret)

export function createSigningSecretsReader(db: Db, secretKey: string): SigningSecretsReader {
  const apps = new Cache<string, Known>(REMEMBERED_APPS)

  async function read(known: Known, key: string, appId: number): Promise<void> {
    try {
      known.secrets = (await readTimedSecrets(db, secretKey, [appId])).get(key) ?? []
    } finally {
      known.reading = null
    }
  }

  return ({ appId, isTest }, nowMs) => {
    const key = signingKeyOf(appId, isTest)
    let known = apps.get(key)
    if (known === undefined) {
      known = { secrets: null, untilMs: 0, reading: null, awaited: Promise.resolve() }
      apps.set(key, known)
    }
    if (known.reading === null && known.secrets !== null && nowMs < known.untilMs) return validAt(nowMs, known.secrets)
    if (known.reading === null) {
      known.untilMs = nowMs + LIFE_MS // where it fails, too: not each request asks a database that is down
      known.reading = read(known, key, appId)
      known.awaited = inTime(known.reading, PATIENCE_MS).catch(() => {})
    }
    const { secrets, reading, awaited } = known
    return (secrets === null ? reading : awaited).then(() => validAt(nowMs, known.secrets))
  }
}
