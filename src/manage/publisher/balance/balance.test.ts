import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Deal, createConversion, createDeal, moveConversion } from '../../../../test/conversion-rows.ts'
import { visit } from '../../../../test/people.ts'
import { useWorld } from '../../../../test/world.ts'
import { recordPayout } from '../../../features/ledger/payments.ts'
import { TESTER } from '../../../../test/tester.ts'

const USD = 1_000_000
const DAY_MS = 86_400_000

type Movement = { earned: number; reversed: number; paid: number }
type Balance = { publisher: { name: string }; pending: number; payable: number; paid: number; period: Movement }
type Statements = {
  statements: ({ month: string; is_open: boolean; closing_balance: number } & Movement)[]
  next_cursor: string | null
}
type Payments = { payments: { amount: number; reference: string; paid_at: string }[]; next_cursor: string | null }

let ours: Deal
let theirs: Deal
const world = useWorld('manage_balance', async () => {
  ours = await createDeal(world, { name: 'Tiny Farm' })
  theirs = await createDeal(world)
  const make = (status: 'approved' | 'pending', dollars: number, at: Date) =>
    createConversion(world, ours, { status, payoutMicros: dollars * USD, revenueMicros: dollars * USD, at })
  const longAgo = new Date('2026-01-15T12:00:00Z')
  await make('approved', 10, longAgo)
  const taken = await make('approved', 2, longAgo)
  const yesterday = new Date(Date.now() - DAY_MS)
  await make('pending', 7, yesterday)
  await make('approved', 4, yesterday)
  await moveConversion(world, ours, taken, 'reversed', yesterday)
  for (const [reference, at] of [
    ['one', longAgo],
    ['two', yesterday],
  ] as const)
    await recordPayout(world.database.db, TESTER, {
      publisherId: ours.publisherId,
      amountMicros: 3 * USD,
      reference,
      at,
    })
})

test('a publisher sees what is pending, payable and paid, and what moved in the time asked for', async () => {
  const visitor = await visit(world, 'publisher_finance', ours.publisherId)
  const { data } = await visitor.get<Balance>(`/publishers/${ours.publisherId}/balance`)
  assert.deepEqual([data.publisher.name, data.pending, data.payable, data.paid], [ours.publisher, 7, 8, 6])
  const { earned, reversed, paid } = data.period
  assert.deepEqual([earned, reversed, paid], [4, 2, 3])
  const january = await visitor.get<Balance>(
    `/publishers/${ours.publisherId}/balance?from=2026-01-01&to=2026-02-01&timezone=Asia/Tokyo`,
  )
  const { period } = january.data
  assert.deepEqual([period.earned, period.reversed, period.paid, january.data.payable], [12, 0, 3, 8])
  assert.equal((january.data.period as unknown as { from: string }).from, '2025-12-31T15:00:00.000Z')
  const bad = await visitor.get(`/publishers/${ours.publisherId}/balance?from=never&timezone=x`)
  assert.deepEqual([bad.status, Object.keys(bad.error.details ?? {})], [400, ['from']])
})

test('every month has its sums, and its statement is a file', async () => {
  const visitor = await visit(world, 'publisher_owner', ours.publisherId)
  const path = `/publishers/${ours.publisherId}/statements`
  const { data } = await visitor.get<Statements>(path)
  const first = await visitor.get<Statements>(`${path}?cursor=2026-02`)
  assert.deepEqual(first.data.statements[0], {
    month: '2026-01',
    is_open: false,
    earned: 12,
    reversed: 0,
    adjusted: 0,
    paid: 3,
    closing_balance: 9,
  })
  assert.deepEqual([data.statements[0]?.is_open, data.statements[0]?.closing_balance], [true, 8])
  const page = await visitor.get<Statements>(`${path}?limit=1`)
  assert.deepEqual(page.data.statements, data.statements.slice(0, 1))
  const next = await visitor.get<Statements>(`${path}?limit=1&cursor=${page.data.next_cursor}`)
  assert.deepEqual(next.data.statements, data.statements.slice(1, 2))
  const file = await visitor.get(`${path}/2026-01`)
  assert.equal(file.status, 200)
  assert.match(file.text, /^date,kind,conversion_id,app,.*\r\n2026-01-01T00:00:00Z,opening_balance,.*,0\.00,\r\n/)
  assert.match(file.text, /,payout,,,,,one,-3\.00,9\.00,\r\n.*closing_balance,.*,9\.00,\r\n$/)
  const wrong = await visitor.get(`${path}/november`)
  assert.deepEqual([wrong.status, wrong.error.message], [400, '"november" is not a month: write it as 2026-11.'])
})

test('payments are listed, newest first, a page at a time', async () => {
  const visitor = await visit(world, 'operator_reader')
  const path = `/publishers/${ours.publisherId}/payments`
  const { data } = await visitor.get<Payments>(`${path}?limit=1`)
  assert.deepEqual(
    data.payments.map(({ amount, reference }) => [amount, reference]),
    [[3, 'two']],
  )
  const rest = await visitor.get<Payments>(`${path}?limit=1&cursor=${data.next_cursor}`)
  assert.deepEqual(
    [rest.data.payments[0]?.reference, rest.data.payments[0]?.paid_at, rest.data.next_cursor],
    ['one', '2026-01-15T12:00:00.000Z', null],
  )
})

const PATHS = ['balance', 'statements', 'statements/2026-01', 'payments']

test('the balance of another publisher is 404', async () => {
  const visitor = await visit(world, 'publisher_owner', theirs.publisherId)
  for (const path of PATHS)
    assert.equal((await visitor.get(`/publishers/${ours.publisherId}/${path}`)).status, 404, path)
  const { data } = await visitor.get<Statements>(`/publishers/${theirs.publisherId}/statements`)
  assert.deepEqual(data, { statements: [], next_cursor: null })
})

test('a number behind which is no publisher is not there for operators either', async () => {
  const visitor = await visit(world, 'operator')
  for (const path of PATHS) assert.equal((await visitor.get(`/publishers/999999/${path}`)).status, 404, path)
})
