// What an app does not want to show, as its publisher sets it.
import type { Db } from '../../db/open.ts'

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

export async function setContentRules(db: Db, appId: number, rules: ContentRuleSet): Promise<void> {
  await db
    .updateTable('apps')
    .set({
      blocked_categories: rules.blockedCategories,
      blocked_keywords: rules.blockedKeywords,
      payment_offers: rules.paymentOffers,
    })
    .where('app_id', '=', appId)
    .execute()
}

/** As they are kept: without space around them, none empty, none twice. */
export function tidyKeywords(keywords: readonly string[]): string[] {
  const known = new Map(keywords.map((keyword) => [keyword.trim().toLowerCase(), keyword.trim()]))
  known.delete('')
  return [...known.values()]
}
