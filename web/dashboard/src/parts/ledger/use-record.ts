import { notifications } from '@mantine/notifications'
import { post } from '../../lib/api.ts'
import { useChange } from '../../lib/queries.ts'

/** Records something under a reference, which counts once: sent again, it says so. */
export function useRecord(path: '/ledger/adjustments' | '/ledger/receipts', what: 'adjustment' | 'receipt') {
  return useChange((body: object) => post(path, body), {
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
