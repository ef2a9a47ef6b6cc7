import { SimpleGrid } from '@mantine/core'
import type { Schemas } from '../../lib/api-types.ts'
import { useGet } from '../../lib/queries.ts'
import { Money } from '../money.tsx'
import { Loaded } from '../page.tsx'
import { Figure } from '../reports/figure.tsx'
import { type BalanceName, BalanceLabel, BALANCES } from './balance-label.tsx'

const SHOWN: readonly BalanceName[] = ['receivable', 'unconfirmed', 'cash', 'pending', 'payable', 'margin']

export const BalanceFigures = ({ balances }: { balances: Schemas['NetworkOverview']['balances'] }) => (
  <SimpleGrid cols={{ base: 2, md: 3, xl: 6 }}>
    {SHOWN.map((of) => (
      <Figure
        key={of}
        label={<BalanceLabel of={of} />}
        value={<Money amount={balances[of]} />}
        about={BALANCES[of].about}
      />
    ))}
  </SimpleGrid>
)

export function Balances() {
  const balance = useGet('/ledger')
  return <Loaded query={balance}>{(balances) => <BalanceFigures balances={balances} />}</Loaded>
}
