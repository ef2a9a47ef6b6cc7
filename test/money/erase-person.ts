// The erasure of a user, from the request to the last pass.
import type { Db } from '../../src/db/open.ts'
import { eraseUsers, SETTLE_MS } from '../../src/features/users/erase.ts'
import { POSTBACK_WAIT_MS, requestErasure } from '../../src/features/users/erasures.ts'
import { TESTER } from '../tester.ts'
import { erasedOf, PEOPLE } from './actions.ts'

type Of = {
  db: Db
  pseudonyms: Map<number, string>
  appId: (app: number) => number
  userId: (person: number) => string
}

/** Nothing happens where nothing is known of the user. No postback is waited for: none is sent in a run. */
export async function erasePerson({ db, pseudonyms, appId, userId }: Of, person: number, now: Date): Promise<void> {
  const user = { appId: appId(PEOPLE[person]?.app ?? 0), isTest: false, userId: userId(person) }
  const asked = await requestErasure(db, TESTER, 'a secret', user, new Date(now.getTime() - POSTBACK_WAIT_MS))
  if (asked === null) return
  pseudonyms.set(erasedOf(person), asked.erasure.pseudonym)
  for (const ms of [0, SETTLE_MS, 2 * SETTLE_MS]) await eraseUsers(db, new Date(now.getTime() + ms))
}
