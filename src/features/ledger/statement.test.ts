import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Deal, createConversion, createDeal, moveConversion } from '../../../test/conversion-rows.ts'
import { useWorld } from '../../../test/world.ts'
import { OperatorError } from '../../errors.ts'
import { readCsvRows } from '../../lib/csv-rows.ts'
import { exactUsd } from '../../lib/money.ts'
import { closeDays, rollUp } from './rollup.ts'
import { recordPayout } from './payments.ts'
import { writeStatement } from './statement.ts'
import { TESTER } from '../../../test/tester.ts'

const world = useWorld('statement')
const USD = 1_000_000

/** The rows below the header, as CSV readers see them. */
async function statementOf({ publisherId }: Pick<Deal, 'publisherId'>, month: string): Promise<string[][]> {
  const rows: string[][] = []
  for await (const row of readCsvRows(writeStatement(world.database.db, publisherId, month))) {
    assert.ok('cells' in row, JSON.stringify(row))
    rows.push(row.cells)
  }
  assert.equal(rows[0]?.join(), 'date,kind,conversion_id,app,offer_id,offer,reference,amount,balance,reason')
  return rows.slice(1).map((cells) => (cells.at(-1) === '' ? cells.slice(0, -1) : cells)) // few have a reason
}

async function approve(deal: Deal, at: string, payoutMicros = USD) {
  return createConversion(world, deal, {
    status: 'approved',
    payoutMicros,
    revenueMicros: payoutMicros,
    at: new Date(at),
  })
}

const pay = ({ publisherId }: Deal, at: string, amountMicros: number, reference: string) =>
  recordPayout(world.database.db, TESTER, { publisherId, amountMicros, reference, at: new Date(at) })

test('a month opens with the payable balance, closes with it, and shows every movement between', async () => {
  const deal = await createDeal(world, { name: 'Tiny Farm' }, 'My app')
  const of = [deal.offerId, 'Tiny Farm'].map(String)
  await approve(deal, '2026-10-31T23:59:59.999Z', 1_500_000)
  const first = await approve(deal, '2026-11-01T00:00:00Z', 2_345_678)
  await pay(deal, '2026-11-15T08:00:00Z', 1_200_000, 'transfer 7')
  await moveConversion(world, deal, first, 'reversed', new Date('2026-11-30T23:59:59.999Z'))
  await approve(deal, '2026-12-01T00:00:00Z')
  await createConversion(world, deal, {
    status: 'pending',
    payoutMicros: USD,
    revenueMicros: USD,
    at: new Date('2026-11-10T00:00:00Z'),
  })

  const november = [
    ['2026-11-01T00:00:00Z', 'opening_balance', '', '', '', '', '', '', '1.50'],
    ['2026-11-01T00:00:00Z', 'conversion', first.conversionId, 'My app', ...of, '', '2.345678', '3.845678'],
    ['2026-11-15T08:00:00Z', 'payout', '', '', '', '', 'transfer 7', '-1.20', '2.645678'],
    ['2026-11-30T23:59:59Z', 'reversal', first.conversionId, 'My app', ...of, '', '-2.345678', '0.30'],
    ['2026-11-30T23:59:59Z', 'closing_balance', '', '', '', '', '', '', '0.30'],
  ]
  assert.deepEqual(await statementOf(deal, '2026-11'), november)
  const december = await statementOf(deal, '2026-12')
  assert.deepEqual(december[0], ['2026-12-01T00:00:00Z', 'opening_balance', '', '', '', '', '', '', '0.30'])
  assert.equal(december.at(-1)?.at(-1), '1.30')

  for (const now of ['2026-11-17T00:00:00Z', '2026-12-05T00:00:00Z']) {
    await closeDays(world.database.db, new Date(now))
    await rollUp(world.database.db)
    assert.deepEqual(await statementOf(deal, '2026-11'), november, `summed up at ${now}`)
  }
})

test('a month without movements has its two balances', async () => {
  const deal = await createDeal(world)
  assert.deepEqual(await statementOf(deal, '2028-02'), [
    ['2028-02-01T00:00:00Z', 'opening_balance', '', '', '', '', '', '', '0.00'],
    ['2028-02-29T23:59:59Z', 'closing_balance', '', '', '', '', '', '', '0.00'],
  ])
})

test('a long month is paged and loses nothing at page edges, even among equal times', async () => {
  const deal = await createDeal(world)
  const { conversionId } = await approve(deal, '2027-01-01T00:00:00Z')
  // Three times for 2,500 entries, the last with microseconds.
  const { publisherId } = deal
  await world.database.pool.query(
    `WITH posting AS (SELECT gen_random_uuid() AS id, n FROM generate_series(1, 2500) n)
     INSERT INTO ledger_entries (posting_id, kind, account, party_id, amount_micros, conversion_id, created_at)
     SELECT id, 'conversion', account, party_id, amount, $1,
       timestamptz '2027-01-02 00:00:00Z' + n % 3 * interval '0.000001 s'
     FROM posting, (VALUES ('publisher_payable', $2::bigint, -1), ('network_margin', 0, 1)) AS line (account, party_id, amount)`,
    [conversionId, publisherId],
  )
  let pieces = 0
  for await (const piece of writeStatement(world.database.db, publisherId, '2027-01')) pieces += piece === '' ? 0 : 1
  assert.equal(pieces, 5) // opening, three pages, closing
  const rows = await statementOf(deal, '2027-01')
  assert.equal(rows.length, 2503)
  const balances = rows.slice(2, -1).map((row) => Math.round(Number(row.at(-1)) * USD))
  assert.deepEqual(
    balances,
    Array.from({ length: 2500 }, (_, i) => USD + i + 1),
  )
  assert.equal(rows.at(-1)?.at(-1), '1.0025')
})

test('text from others is quoted, and is never a spreadsheet formula', async () => {
  const deal = await createDeal(world, { name: '=HYPERLINK("https://evil.example","x")' }, '@app, "mine"')
  await approve(deal, '2027-03-01T12:00:00Z', 5 * USD)
  for (const [i, reference] of ['+1', '-2', 'plain = text'].entries())
    await pay(deal, `2027-03-0${i + 2}T12:00:00Z`, USD, reference)
  const rows = await statementOf(deal, '2027-03')
  assert.equal(rows[1]?.[3], `'@app, "mine"`)
  assert.equal(rows[1]?.[5], `'=HYPERLINK("https://evil.example","x")`)
  assert.deepEqual(
    rows.slice(2, 5).map((row) => row.slice(6, 8)),
    [
      ["'+1", '-1.00'],
      ["'-2", '-1.00'],
      ['plain = text', '-1.00'],
    ],
  )
})

test('a publisher sees only its own movements', async () => {
  const deal = await createDeal(world)
  const other = await createDeal(world)
  await approve(other, '2027-05-01T12:00:00Z')
  assert.equal((await statementOf(deal, '2027-05')).length, 2)
})

test('a negative balance has its sign', async () => {
  const deal = await createDeal(world)
  const made = await approve(deal, '2027-06-01T12:00:00Z')
  await pay(deal, '2027-06-02T12:00:00Z', USD, 'all of it')
  await moveConversion(world, deal, made, 'reversed', new Date('2027-06-03T12:00:00Z'))
  assert.equal((await statementOf(deal, '2027-06')).at(-1)?.at(-1), '-1.00')
})

test('an invalid month is refused', async () => {
  for (const month of ['', '2026', '2026-13', '2026-00', '2026-1', '0000-01', '2026-11-01', 'november']) {
    const first = writeStatement(world.database.db, 1, month).next()
    await assert.rejects(
      first,
      (error) => error instanceof OperatorError && /is not a month/.test(error.message),
      month,
    )
  }
})

test('a statement is one snapshot: postings that commit while it is read are included fully or not at all', async () => {
  const deal = await createDeal(world)
  const post = (from: number, to: number) =>
    world.database.pool.query(
      `INSERT INTO ledger_entries (posting_id, kind, account, party_id, amount_micros, reference, created_at)
       SELECT posting_id, 'payout', line.account, line.party_id, line.amount, 'r' || n, '2026-05-01'::timestamptz + n * interval '1 second'
       FROM (SELECT n, gen_random_uuid() AS posting_id FROM generate_series($1::integer, $2) n) AS payouts
       CROSS JOIN LATERAL (VALUES ('publisher_payable', $3::bigint, 1), ('cash', 0, -1)) AS line (account, party_id, amount)`,
      [from, to, deal.publisherId],
    )
  await post(10, 2_009)
  let text = ''
  let pieces = 0
  for await (const piece of writeStatement(world.database.db, deal.publisherId, '2026-05')) {
    text += piece
    if (++pieces !== 2) continue // the first page is read: one posting has an earlier time, one a later
    await post(5, 5)
    await post(2_500, 2_500)
  }
  const references = [...text.matchAll(/,(r\d+),/g)].map(([, reference]) => reference)
  assert.deepEqual(
    references,
    Array.from({ length: 2_000 }, (_, i) => `r${i + 10}`),
  )
  assert.match(text, /closing_balance,.*-0\.002/)
  assert.equal((await statementOf(deal, '2026-05')).length, 2_004, 'the next one has both')
})

test('dollars are exact, with two decimals at least', () => {
  const shown = [0, 1, -1, 10, 500_000, 1_230_000, -12_345_678, 1_000_000_000_000, 9_007_199_254_740_991].map(exactUsd)
  assert.deepEqual(shown, [
    '0.00',
    '0.000001',
    '-0.000001',
    '0.00001',
    '0.50',
    '1.23',
    '-12.345678',
    '1000000.00',
    '9007199254.740991',
  ])
})
