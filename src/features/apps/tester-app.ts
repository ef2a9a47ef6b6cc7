// The app that test clicks of advertisers belong to. A click needs an app, and none of a publisher's: its people would see
// tests that are not theirs, and their server would be sent postbacks. Its keys are shown to no one.
import { type Db, inTransaction } from '../../db/open.ts'
import type { Actor } from '../accounts/audit.ts'
import { createPublisher } from '../accounts/publishers.ts'
import { createApp } from './apps.ts'

const NAME = 'Postback tests of advertisers'

/** Null: it was never needed. */
export async function findTesterApp(db: Db): Promise<number | null> {
  return (await db.selectFrom('tester_app').select('app_id').executeTakeFirst())?.app_id ?? null
}

/** Creates it the first time. */
export async function requireTesterApp(db: Db, by: Actor, secretKey: string): Promise<number> {
  const found = await findTesterApp(db)
  if (found !== null) return found
  try {
    return await inTransaction(db, async (trx) => {
      const { publisher_id: publisherId } = await createPublisher(trx, by, NAME)
      const { app_id } = await createApp(trx, by, secretKey, { ...APP, publisherId })
      await trx.insertInto('tester_app').values({ app_id }).execute()
      return app_id
    })
  } catch (error) {
    // Another request created it meanwhile.
    const made = await findTesterApp(db)
    if (made === null) throw error
    return made
  }
}

const APP = {
  name: NAME,
  currency: 'USD',
  rateMicros: 1_000_000,
  rateLimit: 1,
  expiresAt: null,
  blockedCategories: [],
  blockedKeywords: [],
  paymentOffers: true,
}
