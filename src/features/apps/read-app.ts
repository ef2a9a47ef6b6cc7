// Apps as the people of their publisher see them. Of secrets nothing is known but their age.
import type { Db } from '../../db/open.ts'
import { microsToUsd } from '../../lib/money.ts'
import { REVOKED_AT } from './apps.ts'
import { modeOf } from './secrets.ts'

/** Oldest first. */
export async function listAppsOf(db: Db, publisherId: number) {
  const apps = await db
    .selectFrom('apps')
    .where('publisher_id', '=', publisherId)
    .select(['app_id', 'publisher_id', 'name', 'currency', 'rate_micros', 'created_at'])
    .select(REVOKED_AT.as('revoked_at'))
    .orderBy('app_id')
    .execute()
  return apps.map(({ rate_micros, ...app }) => ({ ...app, rate: microsToUsd(rate_micros) }))
}

export async function readApp(db: Db, appId: number, now: Date) {
  const { rate_micros, ...app } = await db
    .selectFrom('apps')
    .innerJoin('publishers', 'publishers.publisher_id', 'apps.publisher_id')
    .select(['app_id', 'apps.publisher_id', 'publishers.name as publisher', 'apps.name', 'apps.created_at'])
    .select(['currency', 'rate_micros', 'rate_limit'])
    .where('app_id', '=', appId)
    .executeTakeFirstOrThrow()
  return { ...app, rate: microsToUsd(rate_micros), credentials: await readCredentials(db, appId, now) }
}

async function readCredentials(db: Db, appId: number, now: Date) {
  const credentials = await db
    .selectFrom('credentials')
    .leftJoin('credential_uses', 'credential_uses.api_key', 'credentials.api_key')
    .select(['credentials.api_key', 'is_test', 'expires_at', 'revoked_at', 'created_at', 'first_used_at'])
    .select(['last_used_at', 'secret_leaked_at', 'secret_leaked_origin'])
    .select((is) =>
      is
        .selectFrom('old_signing_secrets as old')
        .select((of) => of.fn.max('old.expires_at').as('at'))
        .whereRef('old.api_key', '=', 'credentials.api_key')
        .where('old.expires_at', '>', now)
        .as('old_signing_secret_expires_at'),
    )
    .where('app_id', '=', appId)
    .orderBy('is_test')
    .execute()
  const secrets = await db
    .selectFrom('api_secrets')
    .innerJoin('credentials', 'credentials.api_key', 'api_secrets.api_key')
    .select(['api_secrets.api_key', 'api_secrets.created_at', 'api_secrets.expires_at'])
    .where('app_id', '=', appId)
    .where((is) => is.or([is('api_secrets.expires_at', 'is', null), is('api_secrets.expires_at', '>', now)]))
    .orderBy('api_secret_id', 'desc')
    .execute()
  return credentials.map((row) => {
    const { is_test, secret_leaked_at, secret_leaked_origin, ...credential } = row
    const own = secrets.filter(({ api_key }) => api_key === credential.api_key)
    const isSafe = (leakedAt: Date) =>
      credential.revoked_at !== null || own.every(({ created_at }) => created_at > leakedAt)
    return {
      ...credential,
      mode: modeOf(is_test),
      secrets: own.map(({ created_at, expires_at }) => ({ created_at, expires_at })),
      leak:
        secret_leaked_at === null
          ? null
          : { at: secret_leaked_at, origin: secret_leaked_origin ?? 'a browser', is_over: isSafe(secret_leaked_at) },
    }
  })
}
