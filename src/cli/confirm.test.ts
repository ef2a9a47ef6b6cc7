// Commands that cannot be undone ask first: each that has --yes is run here without it.
import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { PassThrough } from 'node:stream'
import { test } from 'node:test'
import type { Command } from 'commander'
import { createConversion, createDeal } from '../../test/conversion-rows.ts'
import { failsWith, useOperator } from '../../test/operator.ts'
import { TESTER } from '../../test/tester.ts'
import { SECRET_KEY } from '../../test/world.ts'
import { FEED_DEFAULTS } from '../features/feeds/feed-settings.ts'
import { createFeed } from '../features/feeds/feeds.ts'
import { COMMANDS, runCommand } from './run.ts'
import { inTerminal, type Terminal } from './terminal.ts'

const operator = useOperator({ worker: false })
const { home, world } = operator

/** Without what the server beside writes by itself: that it lives, and events that get their place. */
const dumpDatabase = async () =>
  (await operator.dumpDatabase()).replace(/^(nodes|waiting_events|event_feed) .*\n/gm, '')

const REASON = ['--reason', 'fraud']
/** With what each asks, where it asks only then. `1` is the app, publisher and advertiser of the deal. */
const ASKING: Record<string, string[]> = {
  'secret-key rotate': ['--retire'],
  'user reset-two-factor': ['a@example.com'],
  'publisher permit': ['1', '--status', 'suspended'],
  'app set-postback': ['1', '--remove'],
  'app rotate-secret': ['1', '--grace', '0s'],
  'app rotate-signing-secret': ['1', '--grace', '0s'],
  'app revoke': ['1'],
  'app trust': ['1', '--all'],
  'app distrust': ['1', '--all'],
  'publisher refuse': ['1', ...REASON],
  'offer pause': ['1'],
  'feed remove': ['Feed'],
  'inbound reprocess': ['--advertiser', '1'],
  'inbound dismiss': ['00000000-0000-7000-8000-000000000000'],
  'fraud unset': ['bot'],
  'ban add': ['u', ...REASON],
  'ban lift': ['1'],
  'ledger run pay': ['1'],
  'advertiser rotate-token': ['1', '--grace', '0s'],
  'user erase': ['--app', '1', '--user', 'u'],
  'locker take-down': ['1', ...REASON],
  'conversion reject': ['CONVERSION', ...REASON],
  'conversion reverse': ['CONVERSION'],
  'ledger run cancel': ['1', ...REASON],
  'ledger void': ['1', ...REASON],
}

function* asking(command: Command, before: string[] = []): Generator<string> {
  const path = [...before, command.name()]
  if (command.options.some(({ long }) => long === '--yes')) yield path.join(' ')
  for (const child of command.commands) yield* asking(child, path)
}

/**
 * Each file of the dashboard that asks before it does something, and the commands that do the same; or why none does.
 */
const ASKED_IN_THE_DASHBOARD: Record<string, string[] | string> = {
  'parts/confirm.tsx': 'is how the others ask',
  'main.tsx': 'asks before changes of a form are lost',
  'parts/permissions/section.tsx': ['publisher permit'],
  'parts/postbacks/settings-form.tsx': ['app set-postback'],
  'parts/users/personal-data.tsx': ['user erase'],
  'parts/people.tsx': 'people and invitations are disabled in the dashboard only',
  'parts/app/credential.tsx': 'single secrets are revoked in the dashboard only',
  'parts/app/revoke.tsx': ['app revoke'],
  'parts/account/tokens.tsx': 'people revoke their own tokens',
  'parts/fraud/rules.tsx': ['fraud unset'],
  'parts/feeds/run.tsx': '"feed run" needs --accept-gone for it, after a run that said how many offers are gone',
  'parts/publishers/trust.tsx': ['app trust', 'app distrust'],
  'parts/network-offers/bulk-status.tsx': ['offer pause'],
  'pages/network/offer.tsx': ['offer pause'],
  'parts/ledger/run.tsx': ['ledger run pay', 'ledger run cancel'],
  'parts/rewards/sale.tsx': 'a command ends a sale by --sale none, which says what it does',
  'parts/system/logo.tsx': 'the logo is changed in the dashboard only',
  'parts/advertisers/calls.tsx': ['inbound dismiss', 'inbound reprocess'],
  'parts/advertisers/signature.tsx': 'signatures are set up in the dashboard only',
  'pages/network/bans.tsx': ['ban lift'],
  'parts/feeds/remove-section.tsx': ['feed remove'],
  'pages/network/feed.tsx': 'a paused feed keeps its offers as they are, and "feed resume" undoes it',
  'pages/network/postbacks.tsx': 'postbacks of all apps are paused in the dashboard only',
  'pages/advertiser/proposal.tsx': 'advertisers withdraw their own proposals',
  'pages/advertiser/offer.tsx': 'advertisers pause their own offers',
}

test('what the dashboard asks before, its command asks before, too', () => {
  const folder = new URL('../../web/dashboard/src/', import.meta.url)
  const asks = /\bopenConfirmModal\(|\bimport \{[^}]*\bconfirm\b[^}]*\} from '[./]+\/(parts\/)?confirm\.tsx'/
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter(
    (file) => file.endsWith('.tsx') && asks.test(readFileSync(new URL(file, folder), 'utf8')),
  )
  assert.deepEqual(files.toSorted(), Object.keys(ASKED_IN_THE_DASHBOARD).toSorted())
  for (const [file, commands] of Object.entries(ASKED_IN_THE_DASHBOARD))
    for (const command of typeof commands === 'string' ? [] : commands)
      assert.ok(command in ASKING, `${file} asks, and ${command} has no --yes`)
})

test('every command with --yes does nothing without it where it cannot ask', async () => {
  const all = await Promise.all(Object.values(COMMANDS).map(({ load }) => load()))
  assert.deepEqual(all.flatMap((command) => [...asking(command)]).toSorted(), Object.keys(ASKING).toSorted())
  const deal = await createDeal(world)
  assert.deepEqual([deal.appId, deal.publisherId, deal.advertiserId], [1, 1, 1])
  await createFeed(world.database.db, TESTER, SECRET_KEY, { name: 'Feed', advertiserId: 1, kind: { preset: 'affise' }, credentials: {}, settings: FEED_DEFAULTS }) // prettier-ignore
  const { conversionId } = await createConversion(world, deal, { status: 'pending', payoutMicros: 1, revenueMicros: 1, at: new Date() }) // prettier-ignore
  await home.json('locker', 'create', '--app', '1', '--name', 'Locker')
  const before = await dumpDatabase()
  for (const [path, args] of Object.entries(ASKING)) {
    const given = args.map((one) => (one === 'CONVERSION' ? conversionId : one))
    failsWith(await home.run([...path.split(' '), ...given]), /\. Nothing was done: add --yes to confirm\.\n/, 2)
  }
  assert.equal(await dumpDatabase(), before)
})

/** Runs a command as a person at a terminal does, who answers the question. */
async function answer(args: string[], text: string): Promise<{ status: number; err: string }> {
  const [input, out, err] = [new PassThrough(), new PassThrough().resume(), new PassThrough()]
  let said = ''
  err.on('data', (chunk: Buffer) => {
    said += chunk.toString()
    if (said.endsWith('[y/N] ')) input.write(`${text}\n`)
  })
  const { DATA_DIR = home.dataDir, ...env } = home.env
  const at: Terminal = { env: { DATA_DIR, ...env }, input: Object.assign(input, { isTTY: true }), out, err, status: 0 }
  return { status: await inTerminal(at, () => runCommand(args)), err: said }
}

test('at a terminal the question is asked, and only yes goes on', async () => {
  const isRevoked = async () => (await home.json<{ status: string }[]>('app', 'list'))[0]
  const before = await isRevoked()
  const no = await answer(['app', 'revoke', '1'], 'n')
  assert.match(no.err, /^This revokes both keys of app 1, ".*", permanently\. \[y\/N\] /)
  assert.match(no.err, /Nothing was done\.\n$/)
  assert.equal(no.status, 1)
  assert.deepEqual(await isRevoked(), before)
  assert.equal((await answer(['app', 'revoke', '1'], 'y')).status, 0)
  assert.notDeepEqual(await isRevoked(), before)
})
