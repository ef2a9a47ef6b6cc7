// A command that changes something leaves an entry in the audit log, as in test/audit.test.ts for the management API: most
// of them the very entry that the dashboard leaves. A new command needs an example here, or a place among those that only
// read.
import assert from 'node:assert/strict'
import { userInfo } from 'node:os'
import { test } from 'node:test'
import type { Command } from 'commander'
import { createConversion, createDeal } from '../../test/conversion-rows.ts'
import { useOperator } from '../../test/operator.ts'
import { createPerson } from '../../test/people.ts'
import { listAuditEntries } from '../features/accounts/audit.ts'
import { uuid7 } from '../lib/uuid7.ts'
import { COMMANDS } from './run.ts'

const { home, world, writeOffers } = useOperator({ worker: false })

const READS = ['list', 'show', 'check', 'balance', 'statement']
/** These change nothing that is recorded, or need more than this file sets up. */
const OTHERS: Record<string, string> = {
  serve: 'runs the server',
  migrate: 'changes the schema only',
  config: 'reads',
  doctor: 'reads',
  listen: 'receives postbacks',
  'postback test': 'waits for a worker; the management API leaves the same entry',
  'postback replay': 'the management API leaves the same entry',
  'inbound reprocess': 'the management API leaves the same entry',
  'ledger void': 'the management API leaves the same entry',
  'advertiser test-confirm': 'recorded as seed is',
  'secret-key rotate': 'recorded as seed is',
  'user reset-two-factor': 'in user.test.ts',
}

const pathsOf = (command: Command, before: string[] = []): string[] =>
  command.commands.length === 0
    ? [[...before, command.name()].join(' ')]
    : command.commands.flatMap((child) => pathsOf(child, [...before, command.name()]))

const steps: [command: string, args: string[], action: string, subject?: string][] = []
const tried = new Set<string>()

async function createSteps(): Promise<void> {
  const deal = await createDeal(world)
  const at = new Date()
  const row = (status: 'pending' | 'approved') =>
    createConversion(world, deal, { status, payoutMicros: 30_000_000, revenueMicros: 30_000_000, at })
  const made = [await row('pending'), await row('pending'), await row('approved')].map((one) => one.conversionId)
  const [first = '', second = '', third = ''] = made
  const call = uuid7(at.getTime())
  await world.database.db
    .insertInto('open_calls')
    .values({ inbound_id: call, advertiser_id: deal.advertiserId, outcome: 'invalid' })
    .execute()
  const [app, offer, advertiser] = [String(deal.appId), String(deal.offerId), String(deal.advertiserId)]
  const publisher = String(deal.publisherId)
  const { name } = await world.database.db
    .selectFrom('publishers')
    .select('name')
    .where('publisher_id', '=', deal.publisherId)
    .executeTakeFirstOrThrow()
  const person = await createPerson(world, 'operator')
  const money = ['--amount', '1', '--reference', 'r']
  steps.push(
    ['seed', ['--offers', '1'], 'seed'],
    ['publisher create', ['--name', 'New'], 'publisher.create'],
    ['publisher set-email', [publisher, 'a@example.com'], 'publisher.change', publisher],
    ['publisher permit', [publisher, '--margin', '5'], 'publisher.permit', publisher],
    ['app create', ['--publisher', 'New', '--name', 'Another'], 'app.create'],
    ['app set', [app, '--currency', 'Gems'], 'app.change', app],
    ['app set', [app, '--rate-limit', '50'], 'app.set_rate_limit', app],
    ['app set', [app, '--block-category', 'game'], 'content_rules.change', app],
    [
      'app set',
      [
        app,
        '--balances',
        '--rounding',
        'nearest0',
        '--sale',
        '2',
        '--sale-until',
        '2999-01-01',
        '--minimum-reward',
        '5',
        '--daily-limit',
        '3',
      ],
      'rewards.change',
      app,
    ],
    ['app set', [app, '--expires-at', 'never'], 'app.set_expiry', app],
    ['app rotate-secret', [app], 'app.rotate_secret', app],
    ['app rotate-signing-secret', [app], 'app.rotate_signing_secret', app],
    ['app set-postback', [app, '--url', 'https://example.com/?u={user_id}'], 'postback_settings.save', app],
    ['app set-postback', [app, '--resume'], 'postback_lane.resume', app],
    ['app set-postback', [app, '--remove', '--yes'], 'postback_settings.remove', app],
    ['app trust', [app, '--offer', offer], 'app.trust', app],
    ['app distrust', [app, '--all'], 'app.distrust', app],
    ['locker create', ['--app', app, '--name', 'Locker'], 'locker.create', '1'],
    ['locker set', ['Locker', '--title', 'Read on'], 'locker.change', '1'],
    ['locker take-down', ['1', '--reason', 'spam', '--yes'], 'locker.take_down', '1'],
    ['locker restore', ['1'], 'locker.restore', '1'],
    ['app revoke', [app, '--only', 'test', '--yes'], 'app.revoke_key', app],
    ['app revoke', [app, '--yes'], 'app.revoke', app],
    ['advertiser create', ['--name', 'Ads'], 'advertiser.create'],
    ['advertiser set', [advertiser, '--map', 'paid=approved'], 'advertiser.change', advertiser],
    ['advertiser rotate-token', [advertiser], 'advertiser.rotate_token', advertiser],
    ['offer import', [writeOffers({ advertiser: 'Ads' })], 'offers.imported'],
    ['offer caps', [offer, '--daily-clicks', '5'], 'offer.change', offer],
    ['offer pause', [offer], 'offer.pause', offer],
    ['offer resume', [offer], 'offer.resume', offer],
    ['conversion approve', [first], 'conversion.approve', first],
    ['conversion reject', [second, '--reason', 'fraud', '--yes'], 'conversion.reject', second],
    ['conversion reverse', [third, '--yes'], 'conversion.reverse', third],
    ['inbound dismiss', [call], 'call.dismiss', call],
    ['ledger payout', ['--publisher', name, ...money], 'payout.record'],
    ['ledger receipt', ['--advertiser', 'Ads', ...money], 'receipt.record'],
    ['ledger adjust', ['--publisher', name, ...money, '--reason', 'Good'], 'adjustment.record'],
    ['ledger run create', [], 'payment_run.create', '1'],
    ['ledger run export', ['1', '--out', `${home.folder}/run.csv`], 'payment_run.export', '1'],
    ['ledger run pay', ['1'], 'payment_run.pay', '1'],
    ['ledger adjust', ['--publisher', name, '--amount', '5', '--reference', 's', '--reason', 'x'], 'adjustment.record'],
    ['ledger run create', [], 'payment_run.create', '2'],
    ['ledger run cancel', ['2', '--reason', 'no', '--yes'], 'payment_run.cancel', '2'],
    ['fraud set', ['bot', '--action', 'hold'], 'fraud_rule.set', 'bot'],
    ['fraud unset', ['bot'], 'fraud_rule.delete', 'bot'],
    ['ban add', ['u1', '--reason', 'robot'], 'user.ban', 'u1'],
    ['ban lift', ['1'], 'user.unban', 'u1'],
    ['user create', ['--email', 'op@example.com', '--role', 'operator'], 'invitation.create'],
    ['user reset-password', [person.email], 'user.reset_password', person.id],
  )
}

const newest = () => listAuditEntries(world.database.db, {}, 1)

test('a command that changes something leaves its entry, by the user of the operating system', async () => {
  await createSteps()
  for (const [command, args, action, subject] of steps) {
    tried.add(command)
    const [before] = await newest()
    const { status, err } = await home.run([...command.split(' '), ...args, '--json'])
    assert.deepEqual([command, status, err], [command, 0, ''])
    const [entry] = await newest()
    assert.notEqual(entry?.audit_id, before?.audit_id, `${command} left no entry`)
    assert.deepEqual([command, entry?.action, entry?.who], [command, action, `${userInfo().username} (command line)`])
    if (subject !== undefined) assert.deepEqual([command, entry?.subject], [command, subject])
  }
})

test('a command that only shows something leaves none', async () => {
  const [before] = await newest()
  for (const args of [
    ['offer', 'list'],
    ['offer', 'caps', '1'],
    ['publisher', 'permit', '1'],
    ['ledger', 'balance'],
  ])
    assert.equal((await home.run(args)).status, 0)
  assert.deepEqual(await newest(), [before])
})

test('secrets that a command was given are not in its entry', async () => {
  const text = JSON.stringify(await listAuditEntries(world.database.db, {}, 100))
  assert.doesNotMatch(text, /api_secret|"token":"adv_/)
})

test('every command is tried here, or only reads', async () => {
  const all = (await Promise.all(Object.values(COMMANDS).map(({ load }) => load()))).flatMap((command) =>
    pathsOf(command),
  )
  const untried = all.filter((path) => !tried.has(path) && !READS.includes(path.split(' ').at(-1) ?? ''))
  assert.deepEqual(
    untried.filter((path) => !(path in OTHERS)),
    [],
  )
})
