import { Command, Option } from 'commander'
import { STATUSES } from '../features/conversions/conversions.ts'
import { confirmTestClick } from '../features/conversions/inbound/test-confirm.ts'
import { withDatabase } from './context.ts'
import { type OutputOptions, show } from './output.ts'

type ConfirmOptions = OutputOptions & { goal?: string; txnId?: string; amount?: string; status?: string }

export const testConfirmCommand = () =>
  new Command('test-confirm')
    .description('play the advertiser: confirm a click that was made with test credentials')
    .argument('<click_id>', 'the click, as it stands in the address that the link led to')
    .option('--goal <goal>', 'id or name of the goal (default: the first)')
    .option('--txn-id <id>', "the advertiser's own id of it")
    .option('--amount <usd>', 'the amount, for goals that pay a share of it')
    .addOption(new Option('--status <status>', 'what the advertiser says').choices(STATUSES).default('approved'))
    .action(async (clickId: string, options: ConfirmOptions) => {
      const { goal, txnId, amount, status = 'approved' } = options
      const parameters = {
        status,
        ...(goal === undefined ? {} : { goal }),
        ...(txnId === undefined ? {} : { txn_id: txnId }),
        ...(amount === undefined ? {} : { amount }),
      }
      const result = await withDatabase(({ database }) =>
        confirmTestClick(database.db, clickId, parameters, new Date()),
      )
      const { outcome, reason, conversionId, message } = result
      show(options, { outcome, reason, conversion_id: conversionId, message }, () =>
        [
          message,
          ...(conversionId === null ? [] : [`Look at it with: offerdeck conversion show ${conversionId}`]),
        ].join('\n'),
      )
      if (outcome === 'invalid') process.exitCode = 1
    })
