import { SimpleGrid } from '@mantine/core'
import type { NetworkBalance } from '../../../../../src/manage/ledger/schema.ts'
import type { Reply } from '../../lib/api.ts'
import { formatUsd } from '../../lib/format.ts'
import { useGet } from '../../lib/queries.ts'
import { Loaded } from '../page.tsx'
import { Fact } from '../system/fact.tsx'

export function Balances() {
  const balance = useGet<Reply<typeof NetworkBalance>>('/ledger')
  return (
    <Loaded query={balance}>
      {({ receivable, unconfirmed, cash, pending, payable, margin }) => (
        <SimpleGrid cols={{ base: 2, md: 3, xl: 6 }}>
          <Fact name="Receivable" about="Confirmed by advertisers">
            {formatUsd(receivable)}
          </Fact>
          <Fact name="Unconfirmed" about="Not confirmed by the advertiser">
            {formatUsd(unconfirmed)}
          </Fact>
          <Fact name="Cash" about="Received, less what was paid">
            {formatUsd(cash)}
          </Fact>
          <Fact name="Pending" about="Publishers’, once approved">
            {formatUsd(pending)}
          </Fact>
          <Fact name="Payable" about="Owed to publishers now">
            {formatUsd(payable)}
          </Fact>
          <Fact name="Margin" about="Yours">
            {formatUsd(margin)}
          </Fact>
        </SimpleGrid>
      )}
    </Loaded>
  )
}
