import { Argument, Command, Option } from 'commander'
import { OperatorError } from '../errors.ts'
import {
  type Action,
  ACTIONS,
  deleteRule,
  readFraudRules,
  setFraudRule,
  type Signal,
  SIGNALS,
} from '../features/conversions/fraud.ts'
import { withChange, withDatabase } from './context.ts'
import { type OutputOptions, readId, show, table } from './output.ts'

const DONE: Record<Action, string> = { flag: 'recorded only', hold: 'held for review', reject: 'rejected' }

const signal = () => new Argument('<signal>', 'the signal to look for').choices(SIGNALS)

export const fraudCommand = () =>
  new Command('fraud')
    .description('fraud rules: which signals to look for, and what to do about them')
    .addCommand(
      new Command('list').description('list the fraud rules').action(async (options: OutputOptions) => {
        const rules = await withDatabase(({ database }) => readFraudRules(database.db))
        const shown = rules.map((rule) => ({
          signal: rule.signal,
          offer_id: rule.offerId,
          threshold: rule.threshold,
          action: rule.action,
        }))
        show(options, shown, () => table(shown, 'No rules: no conversion is flagged.'))
      }),
    )
    .addCommand(
      new Command('set')
        .description('flag, hold or reject conversions that show a signal')
        .addArgument(signal())
        .addOption(
          new Option('--action <action>', 'flag the conversion only, hold it for review, or reject it')
            .choices(ACTIONS)
            .makeOptionMandatory(),
        )
        .option('--threshold <n>', 'seconds (too_fast), users per day (ip_users), conversions per hour (user_velocity)')
        .option('--offer <id>', 'only for this offer (default: all offers without their own rule)')
        .action(
          async (name: Signal, options: OutputOptions & { action: Action; threshold?: string; offer?: string }) => {
            const rule = {
              signal: name,
              action: options.action,
              threshold: options.threshold === undefined ? null : readThreshold(options.threshold),
              offerId: options.offer === undefined ? null : readId(options.offer),
            }
            await withChange(({ database }) => setFraudRule(database.db, rule))
            show(options, rule, () => `Conversions flagged ${name} will be ${DONE[options.action]}.`)
          },
        ),
    )
    .addCommand(
      new Command('unset')
        .description('delete a rule')
        .addArgument(signal())
        .option('--offer <id>', 'the rule of this offer (default: the network-wide rule)')
        .action(async (name: Signal, options: OutputOptions & { offer?: string }) => {
          const offerId = options.offer === undefined ? null : readId(options.offer)
          const existed = await withChange(({ database }) => deleteRule(database.db, { offerId, signal: name }))
          if (!existed) throw new OperatorError('No such rule. List the rules with: offerdeck fraud list')
          show(options, { signal: name, offer_id: offerId, deleted: true }, () => `Rule for ${name} deleted.`)
        }),
    )

function readThreshold(text: string): number {
  if (!/^\d{1,9}$/.test(text) || Number(text) < 1)
    throw new OperatorError('--threshold must be a whole number, 1 or more.')
  return Number(text)
}
