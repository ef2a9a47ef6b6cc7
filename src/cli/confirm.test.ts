// Commands that cannot be undone ask first: each that has --yes is run here without it.
import assert from 'node:assert/strict'
import { PassThrough } from 'node:stream'
import { test } from 'node:test'
import type { Command } from 'commander'
import { createConversion, createDeal } from '../../test/conversion-rows.ts'
import { failsWith, useOperator } from '../../test/operator.ts'
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

test('every command with --yes does nothing without it where it cannot ask', async () => {
  const all = await Promise.all(Object.values(COMMANDS).map(({ load }) => load()))
  assert.deepEqual(all.flatMap((command) => [...asking(command)]).toSorted(), Object.keys(ASKING).toSorted())
  const deal = await createDeal(world)
  assert.deepEqual([deal.appId, deal.publisherId, deal.advertiserId], [1, 1, 1])
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
