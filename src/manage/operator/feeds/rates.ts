// What other currencies are worth in US dollars.
import { readRateFile } from '../../../features/rates/rate-file.ts'
import { listRates, setRates } from '../../../features/rates/rates.ts'
import type { ManageContext } from '../../context.ts'
import type { ManageRoutes } from '../../route.ts'
import { RateFile, RateList, RatesChanged, RatesSet } from './schema.ts'

const TAG = 'Feeds'

export function rateRoutes(routes: ManageRoutes, { db }: ManageContext): void {
  routes.get('/rates', {
    id: 'listCurrencyRates',
    summary: 'List exchange rates',
    about: 'The latest of each. A rate counts from its day until the next one.',
    tag: TAG,
    access: 'operator',
    reply: RateList,
    run: async () => ({ rates: await listRates(db, new Date()) }),
  })

  routes.put('/rates', {
    id: 'setCurrencyRates',
    summary: 'Set exchange rates',
    about: 'Replaces those of the same currency and day.',
    tag: TAG,
    access: 'operator',
    body: RatesSet,
    reply: RatesChanged,
    run: async ({ body, by }) => ({ changed: await setRates(db, by, body.rates, new Date()) }),
  })

  routes.post('/rates/import', {
    id: 'importCurrencyRates',
    summary: 'Import exchange rates',
    about: 'From a CSV file of the European Central Bank, or with the columns currency, day, usd.',
    tag: TAG,
    access: 'operator',
    bodyLimit: 6_000_000,
    body: RateFile,
    reply: RatesChanged,
    run: async ({ body, by }) => ({ changed: await setRates(db, by, await readRateFile(body.csv), new Date()) }),
  })
}
