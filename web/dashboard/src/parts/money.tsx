import { formatCents, formatPrice, formatUsd } from '../lib/format.ts'

/** A balance or a sum: in whole cents, exactly on hover. */
export const Money = ({ amount }: MoneyProps) => <Exact amount={amount} shown={formatCents(amount)} />

/** What one thing pays, which may be less than a cent. */
export const Price = ({ amount }: MoneyProps) => <Exact amount={amount} shown={formatPrice(amount)} />

type MoneyProps = { amount: number }

function Exact({ amount, shown }: MoneyProps & { shown: string }) {
  const exact = formatUsd(amount)
  return shown === exact ? shown : <span title={exact}>{shown}</span>
}
