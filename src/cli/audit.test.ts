// A command that changes something leaves an entry in the audit log, as in test/audit.test.ts for the management API: most
// of them the very entry that the dashboard leaves. A new command needs an example here, or a place among those that only
// read.
import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { userInfo } from 'node:os'
import { test } from 'node:test'
import type { Command } from 'commander'
import { createConversion, createDeal } from '../../test/conversion-rows.ts'
import { useOperator } from '../../test/operator.ts'
import { createPerson } from '../../test/people.ts'
import { createApplication } from '../../test/sign-ups.ts'
import { TESTER } from '../../test/tester.ts'
import { listAuditEntries } from '../features/accounts/audit.ts'
import { propose } from '../features/offers/proposals/proposals.ts'
import { uuid7 } from '../lib/uuid7.ts'
import { COMMANDS } from './run.ts'

const { home, world, serverUrl, writeOffers } = useOperator({ worker: false })

const READS = ['list', 'show', 'check', 'balance', 'statement']
/** These change nothing that is recorded, or need more than this file sets up. */
const OTHERS: Record<string, string> = {
  serve: 'runs the server',
  migrate: 'changes the schema only',
  config: 'reads',
  doctor: 'reads',
  listen: 'receives postbacks',
  'feed presets': 'reads',
  'publisher applications': 'reads',
  'offer proposals': 'reads',
  'feed preview': 'in feed.test.ts',
  'feed run': 'in feed.test.ts',
  'export status': 'reads',
  'export run': 'exports what a worker would, and changes nothing else',
  'postback test': 'waits for a worker; the management API leaves the same entry',
  'postback replay': 'the management API leaves the same entry',
  'inbound reprocess': 'the management API leaves the same entry',
  'ledger void': 'the management API leaves the same entry',
  'advertiser test-confirm': 'recorded as seed is',
  'secret-key rotate': 'recorded as seed is',
  'user reset-two-factor': 'in user.test.ts',
  'user export': 'in user.test.ts',
  'user erase': 'in user.test.ts',
  'user erasures': 'reads',
  find: 'reads',
  'backup create': 'recorded as seed is, in backup.test.ts',
  'backup verify': 'reads',
  restore: 'recorded as seed is, in backup.test.ts',
}

const pathsOf = (command: Command, before: string[] = []): string[] =>
  command.commands.length === 0
    ? [[...before, command.name()].join(' ')]
    : command.commands.flatMap((child) => pathsOf(child, [...before, command.name()]))

const allPaths = async () =>
  (await Promise.all(Object.values(COMMANDS).map(({ load }) => load()))).flatMap((command) => pathsOf(command))

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
  const applicant = String(await createApplication(world))
  const proposed = { destination_url: 'https://ads.example.com/?c={click_id}', goals: [{ name: 'Done', revenue: 1 }], name: 'New', category: 'app' } // prettier-ignore
  const write = async (externalId: string) => String(await propose(world.database.db, TESTER, { advertiserId: deal.advertiserId, externalId, fields: proposed }, at)) // prettier-ignore
  const proposals = [await write('refused'), await write('approved')] as const
  const credentials = `${home.folder}/credentials.json`
  writeFileSync(credentials, '{"publisher":"1"}')
  const feed = ['--name', 'Feed', '--preset', 'cpalead', '--advertiser', 'Ads', '--credentials', credentials, '--share', '70'] // prettier-ignore
  const rates = `${home.folder}/rates.csv`
  writeFileSync(rates, 'currency,day,usd\nJPY,2026-11-01,0.0065\n')
  const money = ['--amount', '1', '--reference', 'r']
  steps.push(
    ['seed', ['--offers', '1'], 'seed'],
    ['publisher create', ['--name', 'New'], 'publisher.create'],
    ['publisher set-email', [publisher, 'a@example.com'], 'publisher.change', publisher],
    ['publisher permit', [publisher, '--margin', '5'], 'publisher.permit', publisher],
    ['publisher refuse', [applicant, '--reason', 'Spam.', '--yes'], 'application.refuse', applicant],
    ['publisher approve', [applicant], 'application.approve', applicant],
    ['offer refuse', [proposals[0], '--reason', 'No.'], 'offer_proposal.refuse', proposals[0]],
    ['offer approve', [proposals[1], '--payout', 'Done=0.5'], 'offer_proposal.approve', proposals[1]],
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
    ['app distrust', [app, '--all', '--yes'], 'app.distrust', app],
    ['locker create', ['--app', app, '--name', 'Locker'], 'locker.create', '1'],
    ['locker set', ['Locker', '--title', 'Read on'], 'locker.change', '1'],
    ['locker take-down', ['1', '--reason', 'spam', '--yes'], 'locker.take_down', '1'],
    ['locker restore', ['1'], 'locker.restore', '1'],
    ['app revoke', [app, '--only', 'test', '--yes'], 'app.revoke_key', app],
    ['app revoke', [app, '--yes'], 'app.revoke', app],
    ['advertiser create', ['--name', 'Ads'], 'advertiser.create'],
    ['advertiser budget', [advertiser, '--daily', '500'], 'advertiser.budget', advertiser],
    ['advertiser set', [advertiser, '--map', 'paid=approved'], 'advertiser.change', advertiser],
    ['advertiser rotate-token', [advertiser], 'advertiser.rotate_token', advertiser],
    ['feed add', feed, 'feed.create', '1'],
    ['feed resume', ['Feed'], 'feed.resume', '1'],
    ['feed set', ['Feed', '--share', '65'], 'feed.change', '1'],
    ['feed pause', ['Feed'], 'feed.pause', '1'],
    ['feed remove', ['Feed', '--yes'], 'feed.remove', '1'],
    ['feed add', feed, 'feed.create', '2'],
    ['rate set', ['EUR', '1.08'], 'rates.set', 'rates'],
    ['rate import', [rates], 'rates.set', 'rates'],
    ['offer import', [writeOffers({ advertiser: 'Ads' })], 'offers.imported'],
    ['offer caps', [offer, '--daily-clicks', '5'], 'offer.change', offer],
    ['offer pause', [offer, '--yes'], 'offer.pause', offer],
    ['offer resume', [offer], 'offer.resume', offer],
    ['conversion approve', [first], 'conversion.approve', first],
    ['conversion reject', [second, '--reason', 'fraud', '--yes'], 'conversion.reject', second],
    ['conversion reverse', [third, '--yes'], 'conversion.reverse', third],
    ['inbound dismiss', [call, '--yes'], 'call.dismiss', call],
    ['ledger payout', ['--publisher', name, ...money], 'payout.record'],
    ['ledger receipt', ['--advertiser', 'Ads', ...money], 'receipt.record'],
    ['ledger adjust', ['--publisher', name, ...money, '--reason', 'Good'], 'adjustment.record'],
    ['ledger run create', [], 'payment_run.create', '1'],
    ['ledger run export', ['1', '--out', `${home.folder}/run.csv`], 'payment_run.export', '1'],
    ['ledger run pay', ['1', '--yes'], 'payment_run.pay', '1'],
    ['ledger adjust', ['--publisher', name, '--amount', '5', '--reference', 's', '--reason', 'x'], 'adjustment.record'],
    ['ledger run create', [], 'payment_run.create', '2'],
    ['ledger run cancel', ['2', '--reason', 'no', '--yes'], 'payment_run.cancel', '2'],
    ['fraud set', ['bot', '--action', 'hold'], 'fraud_rule.set', 'bot'],
    ['fraud unset', ['bot', '--yes'], 'fraud_rule.delete', 'bot'],
    ['ban add', ['u1', '--reason', 'robot', '--yes'], 'user.ban', 'u1'],
    ['ban lift', ['1', '--yes'], 'user.unban', 'u1'],
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

/** Of what each shows one of; the other commands need nothing. */
async function argumentsOf(path: string): Promise<string[]> {
  if (path === 'ledger statement')
    return ['--publisher', '1', '--month', '2026-01', '--out', `${home.folder}/statement.csv`]
  if (path === 'backup list') return ['--folder', home.folder]
  if (!path.endsWith(' show')) return []
  const list = [...path.split(' ').slice(0, -1), 'list']
  const [row] = await home.json<Record<string, unknown>[]>(...list)
  const id = row?.[`${list.at(-2)}_id`]
  assert.ok(id !== undefined, `${list.join(' ')} has none`)
  return [String(id)]
}

test('lists and what they are of are printed as JSON with the names of the API', async () => {
  const deal = await createDeal(world)
  await home.json('app', 'set-postback', String(deal.appId), '--url', 'https://example.com/?u={user_id}')
  const { conversionId } = await createConversion(world, deal, { status: 'pending', payoutMicros: 1, revenueMicros: 1, at: new Date() }) // prettier-ignore
  await home.json('conversion', 'approve', conversionId)
  await fetch(`${serverUrl()}/postback?click_id=none&token=none`)
  const paths = (await allPaths()).filter((path) => READS.includes(path.split(' ').at(-1) ?? ''))
  assert.ok(paths.length > 20)
  // The helper refuses names of columns.
  for (const path of paths) await home.json(...path.split(' '), ...(await argumentsOf(path)))
})

test('secrets that a command was given are not in its entry', async () => {
  const text = JSON.stringify(await listAuditEntries(world.database.db, {}, 100))
  assert.doesNotMatch(text, /api_secret|"token":"adv_/)
})

test('every command is tried here, or only reads', async () => {
  const untried = (await allPaths()).filter((path) => !tried.has(path) && !READS.includes(path.split(' ').at(-1) ?? ''))
  assert.deepEqual(
    untried.filter((path) => !(path in OTHERS)),
    [],
  )
})
