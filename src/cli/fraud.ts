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
import { confirm, type ConfirmOptions, yesOption } from './confirm.ts'
import { withChange, withDatabase } from './context.ts'
import { findOfferId } from './find.ts'
import { type OutputOptions, show, table } from './output.ts'
import { hint, UsageError } from './usage.ts'

const DONE: Record<Action, string> = { flag: 'only be flagged', hold: 'be held for review', reject: 'be rejected' }

const signal = () => new Argument('<signal>', 'the signal to look for').choices(SIGNALS)

export const fraudCommand = () =>
  new Command('fraud')
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
        .option('--offer <offer>', 'only for this offer (default: all offers without their own rule)')
        .action(
          async (name: Signal, options: OutputOptions & { action: Action; threshold?: string; offer?: string }) => {
            const { action, offer } = options
            const threshold = options.threshold === undefined ? null : readThreshold(options.threshold)
            const rule = await withChange(async ({ database: { db }, by }) => {
              const offerId = offer === undefined ? null : await findOfferId(db, offer)
              await setFraudRule(db, by, { signal: name, action, threshold, offerId })
              return { signal: name, offer_id: offerId, threshold, action }
            })
            show(options, rule, () => `Conversions with the signal ${name} will ${DONE[options.action]}.`)
          },
        ),
    )
    .addCommand(
      new Command('unset')
        .description('delete a rule')
        .addArgument(signal())
        .option('--offer <offer>', 'the rule of this offer (default: the network-wide rule)')
        .addOption(yesOption())
        .action(async (name: Signal, options: OutputOptions & ConfirmOptions & { offer?: string }) => {
          const { offer } = options
          const whose = offer === undefined ? 'for all offers' : `for offer "${offer}"`
          await confirm(`This deletes the rule for ${name} ${whose}.`, options)
          const { offerId, existed } = await withChange(async ({ database: { db }, by }) => {
            const given = offer === undefined ? null : await findOfferId(db, offer)
            return { offerId: given, existed: await deleteRule(db, by, { offerId: given, signal: name }) }
          })
          if (!existed) throw new OperatorError(`There is no such rule. List the rules with: ${hint('fraud list')}`)
          show(options, { signal: name, offer_id: offerId, deleted: true }, () => `Rule for ${name} deleted.`)
        }),
    )

function readThreshold(text: string): number {
  if (!/^\d{1,9}$/.test(text) || Number(text) < 1)
    throw new UsageError('--threshold must be a whole number, 1 or more.')
  return Number(text)
}
