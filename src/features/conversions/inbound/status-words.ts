// What the status of a call can be said with: the usual words, and those of one advertiser.
import { STATUSES, type Status } from '../conversions.ts'

export const USUAL_STATUSES = new Map<string, Status>(Object.entries({
  '': 'approved', '1': 'approved', approve: 'approved', confirmed: 'approved', accepted: 'approved', paid: 'approved', success: 'approved', ok: 'approved',
  '0': 'pending', hold: 'pending', waiting: 'pending',
  '2': 'rejected', reject: 'rejected', declined: 'rejected', cancelled: 'rejected', canceled: 'rejected', denied: 'rejected',
  '3': 'reversed', reverse: 'reversed', chargeback: 'reversed', refunded: 'reversed', refund: 'reversed',
})) // prettier-ignore

/** `word` in lower case. */
export function readStatus(word: string, { statusMap }: { statusMap: Record<string, string> }): Status | undefined {
  const mapped = Object.hasOwn(statusMap, word) ? statusMap[word] : word
  return STATUSES.find((status) => status === mapped) ?? USUAL_STATUSES.get(mapped ?? '')
}
