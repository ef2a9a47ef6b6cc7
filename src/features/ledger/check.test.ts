import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { type Deal, createConversion, createDeal, moveConversion, type NewRow } from '../../../test/conversion-rows.ts'
import { superuserConnection } from '../../../test/databases.ts'
import { useWorld } from '../../../test/world.ts'
import { openPool } from '../../db/open.ts'
import { checkLedger, countLedger, type LedgerProblem } from './check.ts'
import { voidPosting } from './corrections.ts'
import { rollUp } from './rollup.ts'
import { createRun, payRun } from './payment-runs.ts'
import { recordPayout, recordReceipt } from './payments.ts'
import { TESTER } from '../../../test/tester.ts'

const OLD = new Date('2026-11-05T12:00:00Z') // folded below
const NEW = new Date('2026-11-10T12:00:00Z')
const USD = 1_000_000
const TABLES = [
  'ledger_entries',
  'ledger_days',
  'ledger_balances',
  'network_days',
  'conversions',
  'payment_run_lines',
  'user_balances',
]

let deal: Deal
let superuser: ReturnType<typeof openPool>
const ids: Record<string, string> = {}
const world = useWorld('check', async () => {
  superuser = openPool(superuserConnection(world.databaseName), 1)
  deal = await createDeal(world)
  const make = async (more: Partial<NewRow>) => {
    const row = { status: 'pending', payoutMicros: 2 * USD, revenueMicros: 3 * USD, at: OLD, ...more } as const
    return createConversion(world, deal, row)
  }
  const { db } = world.database
  const approved = await make({ status: 'approved' })
  await rollUp(db) // the others come after the rollup
  const moved = await moveConversion(world, deal, await make({}), 'approved', NEW)
  const rejected = await moveConversion(world, deal, await make({}), 'rejected', NEW)
  const reversed = await make({ status: 'reversed' })
  const test = await make({ status: 'approved', isTest: true })
  await make({ payoutMicros: 5 * USD }) // more than its revenue
  await make({ payoutMicros: 0, revenueMicros: 0 })
  for (const [name, { conversionId }] of Object.entries({ approved, moved, rejected, reversed, test }))
    ids[name] = conversionId
  await recordPayout(db, TESTER, { publisherId: deal.publisherId, amountMicros: USD, reference: 'p', at: NEW })
  await recordReceipt(db, TESTER, { advertiserId: deal.advertiserId, amountMicros: USD, reference: 'r', at: NEW })
})

after(() => superuser.close())

/** As the superuser, who may also disable foreign key triggers. */
const run = (text: string, values: unknown[] = []) => superuser.pool.query(text, values)

/** The problems found after a change that no trigger saw. The change is rolled back. */
async function problemsAfter(...changes: string[]): Promise<LedgerProblem[]> {
  for (const table of TABLES) {
    await run(`CREATE TABLE kept_${table} AS TABLE ${table}`)
    await run(`ALTER TABLE ${table} DISABLE TRIGGER ALL`)
  }
  try {
    for (const change of changes) assert.ok(((await run(change)).rowCount ?? 0) > 0, change)
    return await checkLedger(world.database)
  } finally {
    for (const table of TABLES) {
      await run(`DELETE FROM ${table}`)
      await run(`INSERT INTO ${table} OVERRIDING SYSTEM VALUE SELECT * FROM kept_${table}`)
      await run(`DROP TABLE kept_${table}`)
      await run(`ALTER TABLE ${table} ENABLE TRIGGER ALL`)
    }
  }
}

const kindsOf = (problems: LedgerProblem[]) => problems.map(({ kind }) => kind)
const line = (name: string, account: string) =>
  `conversion_id = '${ids[name]}' AND account = '${account}' AND amount_micros < 0`
const INSERT =
  'INSERT INTO ledger_entries (posting_id, kind, account, party_id, amount_micros, conversion_id, created_at)'
const at = `'${NEW.toISOString()}'`

test('an untouched ledger is right, and the check says how much it holds', async () => {
  assert.deepEqual(await checkLedger(world.database), [])
  assert.deepEqual(await countLedger(world.database), { postings: 10, conversions: 6 })
})

test('one wrong amount is found, with the posting, the conversion and the sums it is in', async () => {
  const problems = await problemsAfter(
    `UPDATE ledger_entries SET amount_micros = amount_micros - 1 WHERE ${line('approved', 'publisher_payable')}`,
  )
  assert.deepEqual(kindsOf(problems), [
    'unbalanced_posting',
    'unbalanced_ledger',
    'wrong_day',
    'wrong_balance',
    'wrong_network_day',
    'wrong_conversion',
  ])
  assert.ok(problems.every(({ count }) => count === 1))
  assert.match(problems[0]?.examples[0] ?? '', /^Posting [\da-f-]{36} sums to -1 instead of 0\.$/)
  assert.match(problems[2]?.examples[0] ?? '', /^The sum of 2026-11-05 for publisher_payable of party \d+ is kept as /)
  const { publisherId } = deal
  assert.match(problems[3]?.examples[0] ?? '', /^The sum of publisher_payable of party \d+ is kept as /)
  assert.match(problems[4]?.examples[0] ?? '', /^What conversions moved on 2026-11-05 is kept as a payout of 2000000 /)
  assert.deepEqual(problems[5]?.examples, [
    `Conversion ${ids['approved']}: publisher_payable of party ${publisherId} is -2000001 instead of -2000000.`,
  ])
})

test('a missing entry is found', async () => {
  const problems = await problemsAfter(`DELETE FROM ledger_entries WHERE ${line('moved', 'publisher_payable')}`)
  assert.deepEqual(kindsOf(problems), ['unbalanced_posting', 'unbalanced_ledger', 'wrong_conversion'])
})

test('a conversion without its posting is found, although all sums are zero', async () => {
  const without = (table: string) =>
    `UPDATE ${table} SET amount_micros = ${table}.amount_micros - e.amount_micros FROM ledger_entries e
     WHERE e.conversion_id = '${ids['approved']}' AND (e.account, e.party_id) = (${table}.account, ${table}.party_id)`
  const problems = await problemsAfter(
    without('ledger_days'),
    without('ledger_balances'),
    'UPDATE network_days SET payout_micros = 0, margin_micros = 0',
    `DELETE FROM ledger_entries WHERE conversion_id = '${ids['approved']}'`,
  )
  assert.deepEqual(kindsOf(problems), ['wrong_conversion'])
  assert.match(
    problems[0]?.examples[0] ?? '',
    /advertiser_receivable .* is 0 instead of 3000000, network_margin .*, publisher_payable/,
  )
})

test('an extra entry is found, and so is an extra posting that sums to zero', async () => {
  const [one, other] = ['00000000-0000-7000-8000-000000000001', '00000000-0000-7000-8000-000000000002']
  for (const name of ['rejected', 'reversed']) {
    const extra = `${INSERT} VALUES ('${one}', 'conversion', 'publisher_payable', ${deal.publisherId}, -7, '${ids[name]}', ${at})`
    assert.deepEqual(kindsOf(await problemsAfter(extra)), [
      'unbalanced_posting',
      'unbalanced_ledger',
      'wrong_conversion',
    ])
    const even = `${INSERT} VALUES ('${other}', 'conversion', 'network_margin', 0, 7, '${ids[name]}', ${at})`
    const moved = `UPDATE ledger_entries SET posting_id = '${one}' WHERE posting_id = '${other}'`
    const problems = await problemsAfter(extra, even, moved)
    assert.deepEqual(kindsOf(problems), ['wrong_conversion'])
    assert.match(
      problems[0]?.examples[0] ?? '',
      new RegExp(`^Conversion ${ids[name]}: network_margin of party 0 is 7 instead of 0`),
    )
  }
})

test('entries on another publisher’s account are found', async () => {
  const problems = await problemsAfter(
    `UPDATE ledger_entries SET party_id = party_id + 1 WHERE ${line('moved', 'publisher_payable')}`,
  )
  assert.deepEqual(kindsOf(problems), ['wrong_conversion'])
})

test('a conversion whose status or amounts were changed without a posting is found', async () => {
  const rejected = `UPDATE conversions SET status = 'reversed', status_reason = 'operator', reversed_at = now() WHERE conversion_id = '${ids['approved']}'`
  assert.deepEqual(kindsOf(await problemsAfter(rejected)), ['wrong_conversion'])
  const dearer = `UPDATE conversions SET payout_micros = payout_micros + 1 WHERE conversion_id = '${ids['moved']}'`
  assert.deepEqual(kindsOf(await problemsAfter(dearer)), ['wrong_conversion'])
})

test('a wrong, a missing and a surplus rollup total are found', async () => {
  const account = `account = 'network_margin'`
  const changes = {
    wrong_day: [
      `UPDATE ledger_days SET amount_micros = amount_micros + 1 WHERE ${account}`,
      `DELETE FROM ledger_days WHERE ${account}`,
      `INSERT INTO ledger_days VALUES ('cash', 0, '2026-11-09', 1)`,
    ],
    wrong_balance: [
      `UPDATE ledger_balances SET amount_micros = amount_micros + 1 WHERE ${account}`,
      `DELETE FROM ledger_balances WHERE ${account}`,
      `INSERT INTO ledger_balances VALUES ('cash', 0, 1)`,
    ],
    wrong_network_day: [
      'UPDATE network_days SET margin_micros = margin_micros + 1',
      'DELETE FROM network_days',
      `INSERT INTO network_days VALUES ('2026-11-09', 1, 0)`,
    ],
    wrong_user_balance: [`INSERT INTO user_balances VALUES (1, 'u', false, 1)`],
  }
  for (const [kind, wrong] of Object.entries(changes))
    for (const change of wrong) assert.deepEqual(kindsOf(await problemsAfter(change)), [kind])
})

test('entries of a test conversion are found, even when they sum to zero', async () => {
  const [one, other] = ['00000000-0000-7000-8000-000000000001', '00000000-0000-7000-8000-000000000002']
  const problems = await problemsAfter(
    `${INSERT} VALUES ('${one}', 'conversion', 'network_margin', 0, 7, '${ids['test']}', ${at}), ('${one}', 'conversion', 'network_margin', 1, -7, '${ids['test']}', ${at}),
      ('${other}', 'conversion', 'network_margin', 0, -7, '${ids['test']}', ${at}), ('${other}', 'conversion', 'network_margin', 1, 7, '${ids['test']}', ${at})`,
  )
  assert.deepEqual(problems, [
    { kind: 'test_conversion', count: 1, examples: [`Conversion ${ids['test']} is a test, but has 4 entries.`] },
  ])
})

test('entries without their conversion are found', async () => {
  const gone = await problemsAfter(`DELETE FROM conversions WHERE conversion_id = '${ids['rejected']}'`)
  assert.deepEqual(kindsOf(gone), ['no_conversion'])
  assert.equal(gone[0]?.count, 6)
  assert.match(gone[0]?.examples[0] ?? '', /is of kind conversion, but its conversion is not there/)
  const unnamed = await problemsAfter(
    `UPDATE ledger_entries SET conversion_id = NULL WHERE conversion_id = '${ids['rejected']}'`,
  )
  assert.deepEqual(kindsOf(unnamed), ['no_conversion'])
})

test('invalid payments are found', async () => {
  const turned = `UPDATE ledger_entries SET amount_micros = -amount_micros WHERE kind = 'payout'`
  assert.deepEqual(kindsOf(await problemsAfter(turned)), ['wrong_payment'])
  const nobody = `UPDATE ledger_entries SET party_id = 999999 WHERE kind = 'receipt' AND account = 'advertiser_receivable'`
  assert.deepEqual(kindsOf(await problemsAfter(nobody)), ['wrong_payment'])
})

test('of many problems the first 20 are listed, with their number', async () => {
  const many = `${INSERT} SELECT gen_random_uuid(), 'receipt', 'cash', 0, 1, NULL, ${at} FROM generate_series(1, 50)`
  const [problem] = await problemsAfter(many)
  assert.equal(problem?.kind, 'unbalanced_posting')
  assert.equal(problem.count, 50)
  assert.equal(problem.examples.length, 20)
  assert.deepEqual(problem.examples, problem.examples.toSorted())
})

test('a void that does not undo its payment is found, and so is a void of nothing', async () => {
  const { db } = world.database
  const payout = { publisherId: deal.publisherId, amountMicros: USD, reference: 'to be voided', at: NEW }
  const { postingId } = await recordPayout(db, TESTER, payout)
  await db.transaction().execute((trx) => voidPosting(trx, TESTER, { postingId, reason: 'Never sent.', at: NEW }))
  assert.deepEqual(await checkLedger(world.database), [])
  const isVoid = `voids = '${postingId}'`
  const twice = await problemsAfter(`UPDATE ledger_entries SET amount_micros = 2 * amount_micros WHERE ${isVoid}`)
  assert.deepEqual(kindsOf(twice), ['wrong_void'])
  assert.deepEqual(twice[0]?.examples.toSorted(), [
    `Posting ${postingId} is voided, but cash of party 0 is left with 1000000.`,
    `Posting ${postingId} is voided, but publisher_payable of party ${deal.publisherId} is left with -1000000.`,
  ])
  const gone = await problemsAfter(`DELETE FROM ledger_entries WHERE posting_id = '${postingId}'`)
  assert.deepEqual(kindsOf(gone), ['wrong_void'])
  const other = await problemsAfter(
    `UPDATE ledger_entries SET voids = '00000000-0000-8000-8000-000000000009' WHERE ${isVoid}`,
  )
  assert.deepEqual(kindsOf(other), ['wrong_void'])
})

test('a payment run line whose payout is a different one, or missing, is found', async () => {
  const { db } = world.database
  const { publisherId } = deal
  const paid = await db.transaction().execute(async (trx) => {
    const all = { publisherIds: [publisherId], minimumMicros: 0, now: NEW }
    const { runId } = await createRun(trx, TESTER, all)
    return payRun(trx, TESTER, runId, { publisherIds: null, isSent: false, now: NEW })
  })
  assert.deepEqual(paid.map(({ outcome }) => outcome), ['paid']) // prettier-ignore
  assert.deepEqual(await checkLedger(world.database), [])
  const postingId = paid[0]?.posting_id ?? ''
  const less = await problemsAfter(`UPDATE payment_run_lines SET amount_micros = amount_micros - 10000 WHERE posting_id = '${postingId}'`) // prettier-ignore
  assert.deepEqual(kindsOf(less), ['wrong_run'])
  assert.match(less[0]?.examples[0] ?? '', new RegExp(`^Payment run \\d+ has publisher ${publisherId} as paid with `))
  const gone = await problemsAfter(`DELETE FROM ledger_entries WHERE posting_id = '${postingId}'`)
  assert.deepEqual(kindsOf(gone), ['wrong_run'])
  assert.match(gone[0]?.examples[0] ?? '', /but its payout is not there\.$/)
})
