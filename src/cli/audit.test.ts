import assert from 'node:assert/strict'
import { userInfo } from 'node:os'
import { test } from 'node:test'
import { Command } from 'commander'
import { useWorld } from '../../test/world.ts'
import { listAuditEntries } from '../features/accounts/audit.ts'
import { noteCommand, recordCommand } from './audit.ts'

const world = useWorld('cli_audit')

/** As main.ts and withDatabase do it. */
async function give(...words: string[]): Promise<void> {
  const act = (name: string) =>
    new Command(name)
      .argument('[ids...]')
      .option('--header <line>')
      .option('--daily <count>')
      .option('--allow <id...>', '', [])
      .option('--json')
      .action(() => recordCommand(world.database.db))
  const nouns = new Command('app').addCommand(act('set-postback')).addCommand(act('list')).addCommand(act('caps'))
  const program = new Command('offerdeck').addCommand(nouns)
  program.hook('preAction', (_program, command) => noteCommand(command))
  await program.parseAsync(words, { from: 'user' })
  await recordCommand(world.database.db) // the database may be opened twice
}

test('a command that changes something is noted once, without its secrets; one that only looks is not', async () => {
  await give('app', 'list')
  await give('app', 'caps', '7')
  await give('app', 'set-postback', '7', '8', '--header', 'Authorization: hunter2', '--json')
  await give('app', 'caps', '7', '--daily', '10')
  const entries = await listAuditEntries(world.database.db, {}, 10)
  assert.deepEqual(
    entries.map(({ who, action, subject, details }) => [who, action, subject, details]),
    [
      [`${userInfo().username} (command line)`, 'app.caps', '7', { daily: '10' }],
      [`${userInfo().username} (command line)`, 'app.set_postback', '7 8', { header: '********' }],
    ],
  )
})
