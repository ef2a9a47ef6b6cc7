// Commands in the audit log: every one that changes something, with whoever the operating system says gave it.
import { userInfo } from 'node:os'
import type { Command } from 'commander'
import type { Db } from '../db/open.ts'
import { recordDeedAlone } from '../features/accounts/audit.ts'

/** These change nothing. Every other command is noted, also one that is new. */
const READS = ['list', 'show', 'check', 'balance', 'statement']
/** "offer caps 7" shows the caps; with options it sets them. */
const SHOW_OR_SET = ['caps', 'permit']
const SECRETS = ['header', 'secret', 'token']
const MAX_SUBJECT = 200

/** Whoever gives commands, by the name that the operating system knows. */
export const operatorName = () => `${userInfo().username} (command line)`

let given: Command | null = null

/** What the person typed. */
export function noteCommand(command: Command): void {
  given = command
}

/** What was given, without what says only how to print it. */
function optionsOf(command: Command): Record<string, unknown> {
  const { json: _, ...options } = command.opts<Record<string, unknown>>()
  return Object.fromEntries(Object.entries(options).filter(([, value]) => !Array.isArray(value) || value.length > 0))
}

/** In the transaction of what it changes, or before it where that is more than one. */
export async function recordCommand(db: Db): Promise<void> {
  const command = given
  given = null // once, however often it opens the database
  if (command === null || READS.includes(command.name())) return
  const options = optionsOf(command)
  if (SHOW_OR_SET.includes(command.name()) && Object.keys(options).length === 0) return
  for (const name of SECRETS) if (name in options) options[name] = '********'
  const noun = command.parent?.parent ? `${command.parent.name()}.` : ''
  await recordDeedAlone(
    db,
    { id: null, email: operatorName(), ip: null },
    {
      action: `${noun}${command.name().replaceAll('-', '_')}`,
      subject: command.args.join(' ').slice(0, MAX_SUBJECT),
      details: options,
    },
  )
}
