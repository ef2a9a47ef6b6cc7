import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { useOperator } from '../../test/operator.ts'

const { home, world } = useOperator()

// In order, as an operator would: all commands work on one ledger.
test('an operator records payments, and sees balances, a statement and a ledger that is right', async () => {
  const { publisher_id } = await home.json<{ publisher_id: number }>('publisher', 'create', '--name', 'Games Inc')
  await home.json('advertiser', 'create', '--name', 'Ads Ltd')
  const receipt = ['ledger', 'receipt', '--advertiser', 'Ads Ltd', '--amount', '12.5', '--reference', 'invoice 1']
  assert.match(
    (await home.run(receipt)).out,
    /^Recorded 12\.50 USD received from "Ads Ltd"\. Paid ahead: 12\.50 USD\.$/m,
  )
  assert.match((await home.run(receipt)).out, /^Nothing new: already recorded 12\.50 USD received from "Ads Ltd"/)
  const other = await home.run(receipt.map((word) => (word === '12.5' ? '13' : word)))
  assert.deepEqual([other.status, /"invoice 1" was already used for 12\.50 USD, not 13\.00/.test(other.err)], [1, true])
  assert.deepEqual(await home.json('ledger', 'balance', '--advertiser', 'Ads Ltd'), {
    advertiser: 'Ads Ltd',
    receivable: -12.5,
    unconfirmed: 0,
  })
  assert.deepEqual(await home.json('ledger', 'balance'), {
    receivable: -12.5,
    unconfirmed: 0,
    cash: 12.5,
    pending: 0,
    payable: 0,
    margin: 0,
  })

  const payout = await home.run(['ledger', 'payout', '--publisher', 'Games Inc', '--amount', '1', '--reference', 'p'])
  assert.equal(payout.err, '1.00 USD is more than the payable balance of 0.00 USD.\n')
  assert.equal(payout.status, 1)
  const none = { publisher: 'Games Inc', pending: 0, payable: 0, paid: 0 }
  assert.deepEqual(await home.json('ledger', 'balance', '--publisher', 'Games Inc'), none)

  const file = join(home.folder, 'statement.csv')
  const statement = ['ledger', 'statement', '--publisher', 'Games Inc', '--month']
  const printed = await home.run([...statement, '2026-11'])
  assert.match(
    printed.out,
    /^date,kind,.*\r\n2026-11-01T00:00:00Z,opening_balance,.*\r\n.*closing_balance,.*,0\.00,\r\n$/,
  )
  assert.match((await home.run([...statement, 'november', '--out', file])).err, /^"november" is not a month/)
  assert.ok(!existsSync(file) && !existsSync(`${file}.part`))
  assert.equal((await home.run([...statement, '2026-11', '--out', file])).out, `Wrote ${file}.\n`)
  assert.equal(readFileSync(file, 'utf8'), printed.out)

  const right = await home.run(['ledger', 'check'])
  assert.equal(right.out, 'The ledger is correct: 1 postings, 0 conversions.\n')
  assert.equal(right.status, 0)
  await tamper(publisher_id)
  const wrong = await home.run(['ledger', 'check'])
  assert.match(wrong.out, /^wrong_day: 1\n {2}The sum of 2026-01-01 for publisher_payable/)
  assert.equal(wrong.status, 1)
})

const tamper = (publisherId: number) =>
  query("INSERT INTO ledger_days VALUES ('publisher_payable', $1, '2026-01-01', -1)", [publisherId])

const query = (text: string, values: unknown[] = []) => world.database.pool.query(text, values)

test('what a command changes stays only with its entry in the audit log', async () => {
  await query(`ALTER TABLE audit_log ADD CONSTRAINT nothing CHECK (who = '') NOT VALID`)
  const receipt = ['ledger', 'receipt', '--advertiser', 'Ads Ltd', '--amount', '1', '--reference', 'no entry']
  assert.equal((await home.run(receipt)).status, 1)
  await query('ALTER TABLE audit_log DROP CONSTRAINT nothing')
  assert.equal((await home.json<{ receivable: number }>('ledger', 'balance', '--advertiser', 'Ads Ltd')).receivable, -12.5) // prettier-ignore
})

test('an operator credits a bonus, pays it with a payment run, and voids the payment', async () => {
  const bonus = ['ledger', 'adjust', '--publisher', 'Games Inc', '--amount', '20.505', '--reference', 'b', '--reason', 'Good'] // prettier-ignore
  assert.match(
    (await home.run(bonus)).out,
    /^Recorded an adjustment of 20\.505 USD\. The balance of "Games Inc" is 20\.505\d* USD\.$/m,
  )
  assert.match((await home.run(bonus)).out, /^Nothing new/)
  const { run_id } = await home.json<{ run_id: number }>('ledger', 'run', 'create', '--minimum', '10')
  const id = String(run_id)
  const file = await home.run(['ledger', 'run', 'export', id])
  assert.match(file.out, new RegExp(`,Games Inc,,20\\.50,USD,run-${id}\r\n$`))
  const [paid] = await home.json<{ outcome: string; posting_id: string }[]>('ledger', 'run', 'pay', id, '--yes')
  assert.equal(paid?.outcome, 'paid')
  assert.match((await home.run(['ledger', 'run', 'pay', id, '--yes'])).out, /^Nothing in this run is due/)
  const again = await home.json<{ outcome: string }[]>('ledger', 'run', 'pay', id, '--publisher', 'Games Inc', '--yes')
  assert.deepEqual(again.map(({ outcome }) => outcome), ['already']) // prettier-ignore
  const voided = await home.run(['ledger', 'void', paid?.posting_id ?? '', '--reason', 'It bounced', '--yes'])
  assert.match(voided.out, /^Voided the payout "run-\d+"\. The balance is 20\.505\d* USD\.$/m)
  const shown = await home.json<{ status: string; all_lines: { voided_at: string | null }[] }>(
    'ledger',
    'run',
    'show',
    id,
  )
  assert.deepEqual([shown.status, shown.all_lines[0]?.voided_at !== null], ['paid', true])
  const kinds = (await home.json<{ kind: string }[]>('ledger', 'list', '--limit', '3')).map(({ kind }) => kind)
  assert.deepEqual(kinds, ['payout', 'payout', 'adjustment'])
  const next = await home.json<{ run_id: number }>('ledger', 'run', 'create')
  assert.match(
    (await home.run(['ledger', 'run', 'cancel', String(next.run_id), '--reason', 'Later', '--yes'])).out,
    /^Cancelled 1 lines/,
  )
})

test('an amount or a party that cannot be is refused with what is right', async () => {
  const pay = (amount: string) =>
    home.run(['ledger', 'payout', '--publisher', 'P', '--reference', 'r', `--amount=${amount}`])
  for (const amount of ['0', '-1', '1.00001', '1e3', 'ten']) {
    const { err, status } = await pay(amount)
    assert.match(err, /^--amount must be an amount in USD above 0 with at most 4 decimals/, amount)
    assert.equal(status, 2)
  }
  assert.match((await pay('1')).err, /^There is no publisher "P"\./)
  const both = await home.run(['ledger', 'balance', '--publisher', 'P', '--advertiser', 'A'])
  assert.match(both.err, /^Use either --publisher or --advertiser, not both\./)
})

test('what is not there is named, with the command that helps', async () => {
  for (const [args, says] of [
    [['ledger', 'run', 'show', '99'], 'There is no payment run 99. List payment runs with: npx offerdeck ledger run list'],
    [['ledger', 'run', 'pay', '99', '--yes'], 'There is no payment run 99. List payment runs with: npx offerdeck ledger run list'],
    [['ledger', 'void', 'x', '--reason', 'y', '--yes'], 'There is no payment or adjustment "x". List them with: npx offerdeck ledger list'],
    [['postback', 'replay', '--status', '99'], 'There is no replay 99. Start one with: npx offerdeck postback replay --app APP'],
    [['postback', 'replay', '--cancel', '99'], 'There is no replay 99. Start one with: npx offerdeck postback replay --app APP'],
  ] as const) {
    const { status, err } = await home.run([...args])
    assert.deepEqual([status, err.trim()], [1, says])
  }
}) // prettier-ignore
