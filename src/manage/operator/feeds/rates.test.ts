import assert from 'node:assert/strict'
import { test } from 'node:test'
import { visit } from '../../../../test/people.ts'
import { useWorld } from '../../../../test/world.ts'

const world = useWorld('manage_rates')

test('rates are set and imported, and those who only look change nothing', async () => {
  const operator = await visit(world, 'operator')
  assert.deepEqual((await operator.put('/rates', { rates: [{ currency: 'EUR', day: '2026-01-05', usd: '1.1' }] })).data, { changed: 1 }) // prettier-ignore
  assert.deepEqual((await operator.post('/rates/import', { csv: 'Date,USD,JPY\n2026-01-06,1.2,160\n' })).data, { changed: 2 }) // prettier-ignore
  const { data } = await operator.get<{ rates: object[] }>('/rates')
  assert.deepEqual(data.rates[0], { currency: 'EUR', day: '2026-01-06', usd: '1.2' })
  const wrong = await operator.put('/rates', { rates: [{ currency: 'EUR', day: 'today', usd: '1' }] })
  assert.deepEqual(Object.keys(wrong.error.details ?? {}), ['rates.0.day'])
  const reader = await visit(world, 'operator_reader')
  assert.equal((await reader.get('/rates')).status, 200)
  assert.equal((await reader.put('/rates', { rates: [{ currency: 'EUR', day: '2026-01-05', usd: '2' }] })).status, 403)
})
