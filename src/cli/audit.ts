// Whom the audit log names for commands, and the entries of commands that no feature records.
import { userInfo } from 'node:os'
import type { Command } from 'commander'
import type { Db } from '../db/open.ts'
import { type Actor, recordAuditAlone } from '../features/accounts/audit.ts'
import { terminal } from './terminal.ts'

const SECRETS = ['header', 'secret', 'token']
const MAX_SUBJECT = 200

/** The operating system’s user. */
export const operator = (): Actor => ({ id: null, email: `${userInfo().username} (command line)`, ip: null })

/** The options given, without those that only say how to print. */
function optionsOf(command: Command): Record<string, unknown> {
  const { json: _json, yes: _yes, wide: _wide, ...options } = command.opts<Record<string, unknown>>()
  return Object.fromEntries(Object.entries(options).filter(([, value]) => !Array.isArray(value) || value.length > 0))
}

/** Before the change, or in its transaction. */
export async function recordCommand(db: Db): Promise<void> {
  const { command } = terminal()
  terminal().command = undefined // once, however often it opens the database
  if (command === undefined) return
  const options = optionsOf(command)
  for (const name of SECRETS) if (name in options) options[name] = '********'
  const noun = command.parent?.parent ? `${command.parent.name()}.` : ''
  await recordAuditAlone(db, operator(), {
    action: `${noun}${command.name().replaceAll('-', '_')}`,
    subject: command.args.join(' ').slice(0, MAX_SUBJECT),
    details: options,
  })
}
