import { notifications } from '@mantine/notifications'
import { post } from '../../lib/api.ts'
import { useChange } from '../../lib/queries.ts'
import type { BodyOf } from '../../lib/operations.ts'

/** Records something under a reference, which counts once: sent again, it says so. */
export const useReceipt = () =>
  useRecord((body: BodyOf<'POST /ledger/receipts'>) => post('/ledger/receipts', body), 'receipt')
export const useAdjustment = () =>
  useRecord((body: BodyOf<'POST /ledger/adjustments'>) => post('/ledger/adjustments', body), 'adjustment')

function useRecord<V>(record: (body: V) => Promise<{ is_new: boolean }>, what: 'adjustment' | 'receipt') {
  return useChange(record, {
    refresh: ['/ledger'],
    onDone: ({ is_new }) =>
      notifications.show({
        color: is_new ? 'green' : 'yellow',
        message: is_new
          ? `${what === 'receipt' ? 'Receipt' : 'Adjustment'} recorded.`
          : `This ${what} was already recorded. Nothing changed.`,
      }),
    onError: () => {},
  })
}
