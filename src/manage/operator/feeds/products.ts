// Which offer is listed where several are for one product.
import { readProductRule, setProductRule } from '../../../features/offers/products/product-rule.ts'
import type { ManageContext } from '../../context.ts'
import type { ManageRoutes } from '../../route.ts'
import { GivenProductRule, ProductRule } from './schema.ts'

const TAG = 'Feeds'

export function productRoutes(routes: ManageRoutes, { db }: ManageContext): void {
  routes.get('/product-rule', {
    id: 'getProductRule',
    summary: 'Get the rule for products',
    about: 'Which offer is listed where several have the same `product`. The others wait behind it.',
    tag: TAG,
    access: 'operator',
    reply: ProductRule,
    run: () => readProductRule(db),
  })

  routes.put('/product-rule', {
    id: 'setProductRule',
    summary: 'Set the rule for products',
    about: 'Takes effect within seconds.',
    tag: TAG,
    access: 'operator',
    body: GivenProductRule,
    reply: ProductRule,
    async run({ body, by }) {
      await setProductRule(db, by, body)
      return readProductRule(db)
    },
  })
}
