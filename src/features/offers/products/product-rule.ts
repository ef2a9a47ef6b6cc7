// What the operator wants listed where several offers are for one product.
import { type Db, inTransaction } from '../../../db/open.ts'
import { OperatorError } from '../../../errors.ts'
import { type Actor, recordAudit } from '../../accounts/audit.ts'
import type { ProductRule } from './choose.ts'

/** `order`: advertisers, the first one first; only `fixed_order` looks at it. */
export type ProductRuleSettings = { rule: ProductRule; order: number[] }

export async function readProductRule(db: Db): Promise<ProductRuleSettings> {
  const { product_rule, product_order } = await db.selectFrom('network_settings').select(['product_rule', 'product_order']).executeTakeFirstOrThrow() // prettier-ignore
  return { rule: product_rule as ProductRule, order: product_order }
}

export async function setProductRule(db: Db, by: Actor, { rule, order }: ProductRuleSettings): Promise<void> {
  await inTransaction(db, async (trx) => {
    const known = await trx.selectFrom('advertisers').select('advertiser_id').where('advertiser_id', 'in', [...order, -1]).execute() // prettier-ignore
    if (new Set(order).size !== known.length || order.length !== known.length) throw new OperatorError('List each advertiser only once, by its ID.', 'order') // prettier-ignore
    await trx.updateTable('network_settings').set({ product_rule: rule, product_order: order }).execute()
    await recordAudit(trx, by, { action: 'product_rule.set', subject: 'network', details: { rule, order } })
  })
}
