import { SimpleGrid } from '@mantine/core'
import { useGet } from '../../lib/queries.ts'
import { Money } from '../money.tsx'
import { Loaded } from '../page.tsx'
import { Fact } from '../system/fact.tsx'

const FACTS = [
  ['receivable', 'Receivable', 'Confirmed by advertisers'],
  ['unconfirmed', 'Unconfirmed', 'Not confirmed by the advertiser'],
  ['cash', 'Cash', 'Received minus paid'],
  ['pending', 'Pending', 'Publishers’, once approved'],
  ['payable', 'Payable', 'Owed to publishers now'],
  ['margin', 'Margin', 'Yours'],
] as const

export function Balances() {
  const balance = useGet('/ledger')
  return (
    <Loaded query={balance}>
      {(balances) => (
        <SimpleGrid cols={{ base: 2, md: 3, xl: 6 }}>
          {FACTS.map(([account, name, about]) => (
            <Fact key={account} name={name} about={about}>
              <Money amount={balances[account]} />
            </Fact>
          ))}
        </SimpleGrid>
      )}
    </Loaded>
  )
}
