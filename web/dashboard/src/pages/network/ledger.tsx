// The money of the network: who is owed, who owes, what was paid, and the proof that it adds up.
import { Tabs } from '@mantine/core'
import { useFilters } from '../../lib/use-filters.ts'
import { Balances } from '../../parts/ledger/balances.tsx'
import { CheckTab } from '../../parts/ledger/check.tsx'
import { PaymentRunTab } from '../../parts/ledger/payment-run.tsx'
import { PaymentsTab } from '../../parts/ledger/payments.tsx'
import { ReceiptsTab } from '../../parts/ledger/receipts.tsx'
import { RunsTab } from '../../parts/ledger/runs.tsx'
import { Page } from '../../parts/page.tsx'

const VIEWS = [
  { value: 'pay', label: 'Pay publishers', Content: PaymentRunTab },
  { value: 'runs', label: 'Payment runs', Content: RunsTab },
  { value: 'receipts', label: 'Advertisers', Content: ReceiptsTab },
  { value: 'payments', label: 'Payments', Content: PaymentsTab },
  { value: 'check', label: 'Check', Content: CheckTab },
]

export default function Ledger() {
  const [filters, change] = useFilters()
  const view = VIEWS.find(({ value }) => value === filters['view']) ?? VIEWS[0]
  const show = (value: string | null) =>
    change({ view: value === 'pay' ? null : value, search: null, minimum: null, offset: null, kind: null, run: null })
  return (
    <Page title="Ledger and payments" about="Days in UTC, amounts in USD. Entries are permanent; no money is moved.">
      <Balances />
      <Tabs value={view?.value ?? 'pay'} onChange={show} keepMounted={false}>
        <Tabs.List mb="md">
          {VIEWS.map(({ value, label }) => (
            <Tabs.Tab key={value} value={value}>
              {label}
            </Tabs.Tab>
          ))}
        </Tabs.List>
        {VIEWS.map(({ value, Content }) => (
          <Tabs.Panel key={value} value={value}>
            <Content />
          </Tabs.Panel>
        ))}
      </Tabs>
    </Page>
  )
}
