// What an app does not want to show, as its publisher sets it.
import { type Db, inTransaction } from '../../db/open.ts'
import { type Actor, recordAudit } from '../accounts/audit.ts'

export type ContentRuleSet = { blockedCategories: string[]; blockedKeywords: string[]; paymentOffers: boolean }

/** The app must exist. */
export async function readContentRules(db: Db, appId: number): Promise<ContentRuleSet> {
  return db
    .selectFrom('apps')
    .select([
      'blocked_categories as blockedCategories',
      'blocked_keywords as blockedKeywords',
      'payment_offers as paymentOffers',
    ])
    .where('app_id', '=', appId)
    .executeTakeFirstOrThrow()
}

/** Replaces them as a whole. */
export async function setContentRules(db: Db, by: Actor, appId: number, rules: ContentRuleSet): Promise<void> {
  await inTransaction(db, async (trx) => {
    const before = await readContentRules(trx, appId)
    const { publisher_id: publisherId } = await trx
      .updateTable('apps')
      .set({
        blocked_categories: rules.blockedCategories,
        blocked_keywords: rules.blockedKeywords,
        payment_offers: rules.paymentOffers,
      })
      .where('app_id', '=', appId)
      .returning('publisher_id')
      .executeTakeFirstOrThrow()
    const details = { before, after: rules }
    await recordAudit(trx, by, { action: 'content_rules.change', subject: appId, publisherId, details })
  })
}

/** As they are kept: without space around them, none empty, none twice. */
export function tidyKeywords(keywords: readonly string[]): string[] {
  const known = new Map(keywords.map((keyword) => [keyword.trim().toLowerCase(), keyword.trim()]))
  known.delete('')
  return [...known.values()]
}
