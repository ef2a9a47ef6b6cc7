// What holds for every command: lists fit a terminal, and what does not exist is said to be so, with status 1.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Command } from 'commander'
import { createConversion, createDeal } from '../../test/conversion-rows.ts'
import { failsWith, useOperator } from '../../test/operator.ts'
import { COMMANDS } from './run.ts'

const { home, world } = useOperator({ worker: false })

type Leaf = { path: string[]; command: Command }
const leavesOf = (command: Command, before: string[] = []): Leaf[] => {
  const path = [...before, command.name()]
  return command.commands.length === 0
    ? [{ path, command }]
    : command.commands.flatMap((child) => leavesOf(child, path))
}
const listCommands = async () =>
  (await Promise.all(Object.values(COMMANDS).map(({ load }) => load()))).flatMap((command) => leavesOf(command))

test('every list fits 100 columns, however long names and IDs of users are', async () => {
  const deal = await createDeal(
    world,
    { name: 'An offer that has no end '.repeat(6) },
    'An app as people name them, and then some more',
  )
  for (const status of ['pending', 'approved', 'reversed'] as const)
    await createConversion(world, deal, { status, payoutMicros: 1_234_567, revenueMicros: 2_345_678, at: new Date(), userId: 'u'.repeat(200) }) // prettier-ignore
  const lists = (await listCommands()).filter(({ path }) => path.at(-1) === 'list' && path[0] !== 'backup') // of a folder
  assert.ok(lists.length > 12, `${lists.length} lists`)
  for (const { path } of lists) {
    const { status, out, err } = await home.run(path)
    assert.deepEqual([path, status, err], [path, 0, ''])
    assert.deepEqual([path, out.split('\n').filter((line) => line.length > 100)], [path, []])
  }
})

/** What a command wants besides. */
const MORE: Record<string, string[]> = {
  'app set': ['--name', 'x'],
  'app trust': ['--all'],
  'app distrust': ['--all'],
  'app set-postback': ['--resume'],
  'advertiser set': ['--any-ip'],
  'feed set': ['--share', '50'],
}
/** These ask for no thing that there is: a file, a word, a new ban; or answer for each of many. */
const OTHERS = ['backup verify', 'restore', 'offer import', 'rate set', 'rate import', 'fraud set', 'fraud unset', 'ban add', 'find', 'conversion approve', 'conversion reject', 'conversion reverse'] // prettier-ignore

test('what does not exist ends with status 1 and a sentence, whichever command asks for it', async () => {
  const asking = (await listCommands()).filter(
    ({ path, command }) => command.registeredArguments.length > 0 && !OTHERS.includes(path.join(' ')),
  )
  assert.ok(asking.length > 40, `${asking.length} commands`)
  for (const { path, command } of asking) {
    const [argument] = command.registeredArguments
    const isOfUuids = /inbound_id|conversion_id|postback_id|posting_id|click/.test(`${argument?.description}`)
    const missing = argument?.name() === 'email' ? 'no@example.com' : isOfUuids ? '018f2a2e-0000-7000-8000-000000000000' : '999999' // prettier-ignore
    const given = command.options.filter(({ mandatory }) => mandatory).flatMap(({ long, argChoices }) => [long ?? '', argChoices?.[0] ?? '1']) // prettier-ignore
    const yes = command.options.some(({ long }) => long === '--yes') ? ['--yes'] : []
    const line = [...path, missing, ...given, ...(MORE[path.join(' ')] ?? []), ...yes]
    const { status, out, err } = await home.run(line)
    assert.match(`${out}${err}`, /There is no /, line.join(' '))
    assert.equal(status, 1, line.join(' '))
  }
})

test('an argument that cannot be what it should is a usage error', async () => {
  for (const args of [
    ['user', 'reset-password', 'ann'],
    ['ledger', 'run', 'show', 'x'],
    ['ban', 'lift', 'x', '--yes'],
  ])
    failsWith(await home.run(args), /is not (an email address|a valid ID)/, 2)
})
