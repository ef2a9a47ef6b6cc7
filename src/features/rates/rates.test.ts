import assert from 'node:assert/strict'
import { test } from 'node:test'
import { TESTER } from '../../../test/tester.ts'
import { useWorld } from '../../../test/world.ts'
import { readRateFile } from './rate-file.ts'
import { forgetOldRates, listRates, loadRates, rateOn, setRates, toDollars } from './rates.ts'

const world = useWorld('currency_rates')
const NOW = new Date('2026-11-17T12:00:00Z')

test('a rate counts from its day until the next one, and before the first one the first counts', async () => {
  const { db } = world.database
  const rates = [{ currency: 'EUR', day: '2026-11-10', usd: '1.05' }, { currency: 'EUR', day: '2026-11-15', usd: '1.1' }] // prettier-ignore
  assert.equal(await setRates(db, TESTER, rates, NOW), 2)
  assert.equal(await setRates(db, TESTER, rates, NOW), 0, 'nothing is different')
  const dollarsOn = async (day: string) => toDollars(1_000_000, (await rateOn(db, 'EUR', day)) ?? 0n)
  assert.deepEqual(await Promise.all(['2026-11-01', '2026-11-10', '2026-11-14', '2026-11-15', '2027-01-01'].map(dollarsOn)), [1_050_000, 1_050_000, 1_050_000, 1_100_000, 1_100_000]) // prettier-ignore
  assert.equal(await rateOn(db, 'JPY', '2026-11-17'), null)
  assert.equal(toDollars(1_234_567, (await rateOn(db, 'USD', '2026-11-17')) ?? 0n), 1_234_567)
  await setRates(db, TESTER, [{ currency: 'EUR', day: '2026-11-18', usd: '9' }], NOW)
  assert.deepEqual(await listRates(db, NOW), [{ currency: 'EUR', day: '2026-11-15', usd: '1.1' }], 'that of tomorrow is not used yet') // prettier-ignore
  const { rateOf } = await loadRates(db, NOW)
  assert.deepEqual(['EUR', 'USD', 'JPY'].map(rateOf), [11_000_000_000n, 10_000_000_000n, undefined])
})

test('currencies of which a unit is worth very little lose nothing', async () => {
  const { db } = world.database
  await setRates(db, TESTER, [{ currency: 'VND', day: '2026-11-17', usd: '0.0000394123' }], NOW)
  assert.equal(toDollars(25_000_000_000, (await rateOn(db, 'VND', '2026-11-17')) ?? 0n), 985_307) // 25,000 VND
})

test('what is not a rate is refused, each with its place, and nothing is recorded', async () => {
  const wrong = [
    { currency: 'eur', day: '2026-11-17', usd: '1' },
    { currency: 'USD', day: '2026-11-17', usd: '1' },
    { currency: 'CHF', day: '2026-02-30', usd: '1' },
    { currency: 'CHF', day: '2027-11-17', usd: '1' },
    ...['0', '-1', '1e3', '1,05', '', '0.00000000001'].map((usd) => ({ currency: 'CHF', day: '2026-11-17', usd })),
    { currency: 'SEK', day: '2026-11-17', usd: '0.09' },
  ]
  await assert.rejects(setRates(world.database.db, TESTER, wrong, NOW), (error: { problems: { field: string }[] }) => {
    assert.deepEqual(error.problems.map(({ field }) => field), ['rates.0.currency', 'rates.1.currency', 'rates.2.day', 'rates.3.day', ...[4, 5, 6, 7, 8, 9].map((i) => `rates.${i}.usd`)]) // prettier-ignore
    return true
  })
  assert.equal(await rateOn(world.database.db, 'SEK', '2026-11-17'), null)
})

test('files of the European Central Bank are read, of one day and of many, and plain ones', async () => {
  const day = await readRateFile('Date, USD, JPY, XXX, \n17 November 2026, 1.0842, 162.5, N/A, \n')
  assert.deepEqual(day, [{ currency: 'EUR', day: '2026-11-17', usd: '1.0842' }, { currency: 'JPY', day: '2026-11-17', usd: '0.0066720000' }]) // prettier-ignore
  const history = await readRateFile('Date,USD,JPY,\n2026-11-17,1.08,160,\n2026-11-16,1.07,N/A,\n')
  assert.deepEqual(history.map(({ currency, day: on }) => `${currency} ${on}`), ['EUR 2026-11-17', 'JPY 2026-11-17', 'EUR 2026-11-16']) // prettier-ignore
  assert.deepEqual(await readRateFile('currency,day,usd\neur,2026-11-17,1.08\n'), [{ currency: 'EUR', day: '2026-11-17', usd: '1.08' }]) // prettier-ignore
  for (const [text, problem] of [
    ['', /is empty/],
    ['currency,day,usd\n', /has no rates/],
    ['not a table', /has no rates/],
    ['a,b\n1,2\n', /Line 2 has no currency/],
    ['Date,JPY\n2026-11-17,160\n', /Line 2 has no rate for USD/],
    ['Date,USD\nyesterday,1\n', /"yesterday" is not a day/],
  ] as const)
    // prettier-ignore
    await assert.rejects(readRateFile(text), problem)
})

test('what is recorded stands in the audit log, and old rates are deleted but for the latest', async () => {
  const { db } = world.database
  const old = [{ currency: 'NOK', day: '2025-10-01', usd: '0.1' }, { currency: 'NOK', day: '2025-10-10', usd: '0.2' }, { currency: 'NOK', day: '2025-10-20', usd: '0.3' }] // prettier-ignore
  assert.equal(await setRates(db, TESTER, old, NOW), 1, 'days that nothing can be about any more are left out')
  await assert.rejects(setRates(db, TESTER, old.slice(0, 1), NOW), /2025-10-01 is too long ago/)
  assert.equal(await setRates(db, TESTER, old, new Date('2025-10-21T00:00:00Z')), 2)
  await forgetOldRates(db, NOW)
  const left = await db
    .selectFrom('currency_rates')
    .select('usd')
    .where('currency', '=', 'NOK')
    .orderBy('day')
    .execute()
  assert.deepEqual(left.map(({ usd }) => Number(usd)), [0.2, 0.3]) // prettier-ignore
  const entry = await db.selectFrom('audit_log').select('details').where('action', '=', 'rates.set').orderBy('audit_id', 'desc').executeTakeFirstOrThrow() // prettier-ignore
  assert.deepEqual(entry.details, { rates: [{ currency: 'NOK', day: '2025-10-01', usd: '0.1' }, { currency: 'NOK', day: '2025-10-10', usd: '0.2' }] }) // prettier-ignore
})
