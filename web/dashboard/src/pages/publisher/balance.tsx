import { SimpleGrid, Stack } from '@mantine/core'
import { useParams } from 'wouter'
import { isOperator, useMe } from '../../lib/me.ts'
import { useGet } from '../../lib/queries.ts'
import { Payments } from '../../parts/balance/payments.tsx'
import { Statements } from '../../parts/balance/statements.tsx'
import { BalanceLabel } from '../../parts/ledger/balance-label.tsx'
import { Money } from '../../parts/money.tsx'
import { Loaded, Page } from '../../parts/page.tsx'
import { Figure } from '../../parts/reports/figure.tsx'
import { RangePicker } from '../../parts/reports/range-picker.tsx'
import { useRange } from '../../parts/reports/use-range.ts'
import { Section } from '../../parts/section.tsx'

export default function Balance() {
  const { publisher_id } = useParams<{ publisher_id: string }>()
  const me = useMe()
  const range = useRange()
  const base = `/publishers/${publisher_id}` as const
  const now = useGet(`${base}/balance`)
  const then = useGet(range.error === null ? `${base}/balance` : null, { query: range.period })
  const whose = isOperator(me) && now.data !== undefined ? ` of ${now.data.publisher.name}` : ''
  return (
    <Page title={`Balance${whose}`} about="Amounts in USD.">
      <Loaded query={now}>
        {({ pending, payable, paid }) => (
          <Stack gap="lg">
            <SimpleGrid cols={{ base: 1, xs: 3 }}>
              <Figure
                label={<BalanceLabel of="pending" />}
                value={<Money amount={pending} />}
                about="Conversions not approved yet"
              />
              <Figure
                label={<BalanceLabel of="payable" />}
                value={<Money amount={payable} />}
                about="Approved, not paid yet"
              />
              <Figure label="Paid" value={<Money amount={paid} />} about="All time" />
            </SimpleGrid>
            <Section title="Activity">
              <RangePicker range={range} />
              {range.error === null && (
                <Loaded query={then}>
                  {({ period }) => (
                    <SimpleGrid cols={{ base: 1, xs: 4 }}>
                      <Figure
                        label="Earned"
                        value={<Money amount={period.earned} />}
                        about="Became payable"
                        meaning="Payout of conversions that were approved in this period, whenever they were created. Reports count them on the day they were created."
                      />
                      <Figure
                        label="Reversed"
                        value={<Money amount={period.reversed} />}
                        about="After approval"
                        meaning="Payout of approved conversions that were reversed in this period."
                      />
                      <Figure
                        label="Adjusted"
                        value={<Money amount={period.adjusted} />}
                        about="Credits minus debits"
                      />
                      <Figure label="Paid" value={<Money amount={period.paid} />} about="Payments sent" />
                    </SimpleGrid>
                  )}
                </Loaded>
              )}
            </Section>
            <Statements base={base} />
            <Payments base={base} />
          </Stack>
        )}
      </Loaded>
    </Page>
  )
}
