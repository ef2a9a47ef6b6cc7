// Commands that cannot be undone ask first.
import { createInterface } from 'node:readline/promises'
import { Option } from 'commander'
import { OperatorError } from '../errors.ts'
import { terminal } from './terminal.ts'
import { UsageError } from './usage.ts'

export type ConfirmOptions = { yes?: boolean }

export const yesOption = () => new Option('-y, --yes', 'skip the confirmation')

/** Asks `question` at a terminal. Where there is none, --yes must say it: a script must not do this by accident. */
export async function confirm(question: string, { yes }: ConfirmOptions): Promise<void> {
  if (yes === true) return
  const { input, err } = terminal()
  if (input.isTTY !== true) throw new UsageError(`${question} Nothing was done: add --yes to confirm.`)
  const asked = createInterface({ input, output: err })
  try {
    const answer = await asked.question(`${question} [y/N] `)
    if (!/^y(es)?$/i.test(answer.trim())) throw new OperatorError('Nothing was done.')
  } finally {
    asked.close()
  }
}
