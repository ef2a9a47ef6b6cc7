import { formatCents, formatUsd } from '../lib/format.ts'

/** A balance or a sum: in whole cents, exactly on hover. */
export function Money({ amount }: { amount: number }) {
  const [shown, exact] = [formatCents(amount), formatUsd(amount)]
  return shown === exact ? shown : <span title={exact}>{shown}</span>
}
