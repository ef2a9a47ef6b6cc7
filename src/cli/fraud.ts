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

const signal = () => new Argument('<signal>', 'what is looked for').choices(SIGNALS)

export const fraudCommand = () =>
  new Command('fraud')
    .description('rules about signals of fraud: what is noticed, and what is done about it')
    .addCommand(
      new Command('list').description('list the rules').action(async (options: OutputOptions) => {
        const rules = await withDatabase(({ database }) => readFraudRules(database.db))
        const shown = rules.map((rule) => ({
          signal: rule.signal,
          offer_id: rule.offerId,
          threshold: rule.threshold,
          action: rule.action,
        }))
        show(options, shown, () => table(shown, 'There are no rules: nothing is noticed.'))
      }),
    )
    .addCommand(
      new Command('set')
        .description('flag, hold or reject conversions with a signal')
        .addArgument(signal())
        .addOption(
          new Option('--action <action>', 'note it only, leave it pending for you, or reject it')
            .choices(ACTIONS)
            .makeOptionMandatory(),
        )
        .option('--threshold <n>', 'seconds (too_fast), users a day (ip_users), conversions an hour (user_velocity)')
        .option('--offer <id>', 'for this offer only (default: for all without a rule of their own)')
        .action(
          async (name: Signal, options: OutputOptions & { action: Action; threshold?: string; offer?: string }) => {
            const rule = {
              signal: name,
              action: options.action,
              threshold: options.threshold === undefined ? null : readThreshold(options.threshold),
              offerId: options.offer === undefined ? null : readId(options.offer),
            }
            await withChange(({ database }) => setFraudRule(database.db, rule))
            show(options, rule, () => `From now on, ${name} means: ${options.action}.`)
          },
        ),
    )
    .addCommand(
      new Command('unset')
        .description('delete a rule')
        .addArgument(signal())
        .option('--offer <id>', 'that of this offer (default: that of the network)')
        .action(async (name: Signal, options: OutputOptions & { offer?: string }) => {
          const offerId = options.offer === undefined ? null : readId(options.offer)
          const existed = await withChange(({ database }) => deleteRule(database.db, { offerId, signal: name }))
          if (!existed) throw new OperatorError('There is no such rule. "offerdeck fraud list" shows them.')
          show(options, { signal: name, offer_id: offerId, deleted: true }, () => `The rule for ${name} is gone.`)
        }),
    )

function readThreshold(text: string): number {
  if (!/^\d{1,9}$/.test(text) || Number(text) < 1)
    throw new OperatorError('--threshold must be a whole number, 1 or more.')
  return Number(text)
}
