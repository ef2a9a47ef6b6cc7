// Records every command that changes something in the audit log, with the operating system’s user as its actor.
import { userInfo } from 'node:os'
import type { Command } from 'commander'
import type { Db } from '../db/open.ts'
import { recordAuditAlone } from '../features/accounts/audit.ts'
import { type Terminal, terminal } from './terminal.ts'

/** These change nothing. Every other command is recorded, including ones added later. */
const READS = ['list', 'show', 'check', 'balance', 'statement']
/** "offer caps 7" shows the caps; with options it sets them. */
const SHOW_OR_SET = ['caps', 'permit']
const SECRETS = ['header', 'secret', 'token']
const MAX_SUBJECT = 200

/** The actor of commands: the operating system’s user. */
export const operatorName = () => `${userInfo().username} (command line)`

/** What the person typed, at which terminal. */
const given = new WeakMap<Terminal, Command>()

/** Remembers the command that is about to run. */
export function noteCommand(command: Command): void {
  given.set(terminal(), command)
}

/** The options given, without those that only say how to print. */
function optionsOf(command: Command): Record<string, unknown> {
  const { json: _, ...options } = command.opts<Record<string, unknown>>()
  return Object.fromEntries(Object.entries(options).filter(([, value]) => !Array.isArray(value) || value.length > 0))
}

/** Runs in the transaction of the change, or before it where the change is more than one transaction. */
export async function recordCommand(db: Db): Promise<void> {
  const command = given.get(terminal())
  given.delete(terminal()) // once, however often it opens the database
  if (command === undefined || READS.includes(command.name())) return
  const options = optionsOf(command)
  if (SHOW_OR_SET.includes(command.name()) && Object.keys(options).length === 0) return
  for (const name of SECRETS) if (name in options) options[name] = '********'
  const noun = command.parent?.parent ? `${command.parent.name()}.` : ''
  await recordAuditAlone(
    db,
    { id: null, email: operatorName(), ip: null },
    {
      action: `${noun}${command.name().replaceAll('-', '_')}`,
      subject: command.args.join(' ').slice(0, MAX_SUBJECT),
      details: options,
    },
  )
}
