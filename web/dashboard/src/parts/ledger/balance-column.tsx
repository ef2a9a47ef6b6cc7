import type { Column } from '../data-table.tsx'
import { Money } from '../money.tsx'
import { BALANCES, BalanceLabel, type BalanceName } from './balance-label.tsx'

export const balanceColumn = <N extends BalanceName>(of: N): Column<Record<N, number>> => ({
  name: BALANCES[of].label,
  heading: <BalanceLabel of={of} />,
  isNumber: true,
  cell: (row) => <Money amount={row[of]} />,
})
