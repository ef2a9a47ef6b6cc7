import { Command, Option } from 'commander'
import { STATUSES } from '../features/conversions/conversions.ts'
import { confirmTestClick } from '../features/conversions/inbound/test-confirm.ts'
import { withRecord } from './context.ts'
import { type OutputOptions, show } from './output.ts'
import { failLater } from './terminal.ts'
import { hint } from './usage.ts'

type ConfirmOptions = OutputOptions & { goal?: string; txnId?: string; amount?: string; status?: string }

export const testConfirmCommand = () =>
  new Command('test-confirm')
    .description('act as the advertiser: confirm a click made with test credentials')
    .argument('<click_id>', 'the click ID, as found in the URL that the link redirected to')
    .option('--goal <goal>', 'goal ID or name (default: the first)')
    .option('--txn-id <id>', "the advertiser's transaction ID")
    .option('--amount <usd>', 'sale amount, for goals that pay a percentage')
    .addOption(new Option('--status <status>', 'status the advertiser sends').choices(STATUSES).default('approved'))
    .action(async (clickId: string, options: ConfirmOptions) => {
      const { goal, txnId, amount, status = 'approved' } = options
      const parameters = {
        status,
        ...(goal === undefined ? {} : { goal }),
        ...(txnId === undefined ? {} : { txn_id: txnId }),
        ...(amount === undefined ? {} : { amount }),
      }
      const result = await withRecord(({ database }) => confirmTestClick(database.db, clickId, parameters, new Date()))
      const { outcome, reason, conversionId, message } = result
      show(options, { outcome, reason, conversion_id: conversionId, message }, () =>
        [
          message,
          ...(conversionId === null ? [] : [`See the conversion: ${hint(`conversion show ${conversionId}`)}`]),
        ].join('\n'),
      )
      if (outcome === 'invalid') failLater()
    })
