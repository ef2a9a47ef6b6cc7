// What advertisers owe, and the note that they paid.
import { Anchor, Button, Group, Modal, Stack, Text, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useState } from 'react'
import { Link } from 'wouter'
import { amountOf, checkPositive } from '../../lib/amounts.ts'
import type { Schemas } from '../../lib/api-types.ts'
import { formatCents } from '../../lib/format.ts'
import { mayWrite, useMe } from '../../lib/me.ts'
import { useGet } from '../../lib/queries.ts'
import { useFilters } from '../../lib/use-filters.ts'
import { useSubmit } from '../../lib/use-submit.ts'
import { AmountInput } from '../amount-input.tsx'
import { type Column, DataTable } from '../data-table.tsx'
import { balanceColumn } from './balance-column.tsx'
import { Money } from '../money.tsx'
import { Empty, Loaded } from '../page.tsx'
import { FilterBar } from '../filter-bar.tsx'
import { SearchInput } from '../search-input.tsx'
import { SubmitForm } from '../submit-form.tsx'
import { OffsetPager } from '../system/offset-pager.tsx'
import { Time } from '../time.tsx'
import { type AdjustedParty, AdjustModal } from './adjust.tsx'
import { useReceipt } from './use-record.ts'

const LIMIT = 50
type Debtor = Schemas['AdvertiserBalanceList']['advertisers'][number]

export function ReceiptsTab() {
  const mayRecord = mayWrite(useMe())
  const [filters, change] = useFilters()
  const { search = '' } = filters
  const offset = Number(filters['offset'] ?? 0) || 0
  const debtors = useGet('/ledger/advertisers', { query: { search, limit: LIMIT, offset } })
  const [payer, setPayer] = useState<Debtor | null>(null)
  const [adjusted, setAdjusted] = useState<AdjustedParty | null>(null)
  return (
    <Stack>
      <FilterBar
        label="Advertisers"
        filters={filters}
        change={(none) => change({ ...none, offset: null })}
        names={[]}
        searchName="search"
        search={
          <SearchInput
            label="Advertiser"
            placeholder="Part of the name"
            value={search}
            onChange={(value) => change({ search: value, offset: null })}
          />
        }
      />
      <Loaded query={debtors}>
        {({ advertisers, total }) => (
          <DataTable
            rows={advertisers}
            columns={[...COLUMNS, mayRecord && actions(setPayer, setAdjusted)]}
            rowKey={({ advertiser_id }) => advertiser_id}
            minWidth={720}
            empty={<NoDebtors isFiltered={search !== ''} />}
            pager={
              <OffsetPager
                {...{ offset, total }}
                limit={LIMIT}
                onChange={(next) => change({ offset: next === 0 ? null : String(next) })}
              />
            }
          />
        )}
      </Loaded>
      <Modal opened={payer !== null} onClose={() => setPayer(null)} title={`Received from ${payer?.name ?? ''}`}>
        {payer !== null && <ReceiptForm payer={payer} onDone={() => setPayer(null)} />}
      </Modal>
      <AdjustModal party={adjusted} onClose={() => setAdjusted(null)} />
    </Stack>
  )
}

function NoDebtors({ isFiltered }: { isFiltered: boolean }) {
  if (isFiltered) return <Empty title="No advertiser matches">Search for part of a name.</Empty>
  return (
    <Empty title="No advertisers yet">
      Create advertisers on <Link href="/network/advertisers">their page</Link>.
    </Empty>
  )
}

const COLUMNS: Column<Debtor>[] = [
  {
    name: 'Advertiser',
    isText: true,
    cell: ({ advertiser_id, name }) => (
      <Anchor component={Link} href={`/network/advertisers/${advertiser_id}`} size="sm">
        {name}
      </Anchor>
    ),
  },
  {
    name: 'Owes',
    isNumber: true,
    cell: ({ receivable }) =>
      receivable < 0 ? (
        <>
          <Money amount={-receivable} /> ahead
        </>
      ) : (
        <Money amount={receivable} />
      ),
  },
  balanceColumn('unconfirmed'),
  { name: 'Received so far', isNumber: true, cell: ({ received }) => <Money amount={received} /> },
  { name: 'Last received', cell: ({ last_received_at }) => <Time at={last_received_at} ago none="never" /> },
]

const actions = (onRecord: (payer: Debtor) => void, onAdjust: (party: AdjustedParty) => void): Column<Debtor> => ({
  name: 'Actions',
  cell: (one) => (
    <Group gap={4} wrap="nowrap">
      <Button
        size="xs"
        variant="default"
        aria-label={`Record a receipt from ${one.name}`}
        onClick={() => onRecord(one)}
      >
        Record
      </Button>
      <Button
        size="xs"
        variant="default"
        aria-label={`Adjust the balance of ${one.name}`}
        onClick={() => onAdjust({ advertiser_id: one.advertiser_id, name: one.name })}
      >
        Adjust
      </Button>
    </Group>
  ),
})

function ReceiptForm({ payer, onDone }: { payer: Debtor; onDone: () => void }) {
  const form = useForm({ initialValues: { amount: '', reference: '' }, validate: { amount: checkPositive } })
  const record = useReceipt()
  const submit = useSubmit(form, async ({ amount, reference }) => {
    await record.mutateAsync({ advertiser_id: payer.advertiser_id, amount: amountOf(amount), reference })
    onDone()
  })
  return (
    <SubmitForm submit={submit} action="Record receipt">
      <Text size="sm">
        {payer.receivable > 0
          ? `${payer.name} owes ${formatCents(payer.receivable)}.`
          : `${payer.name} owes nothing. This payment is recorded as paid ahead.`}
      </Text>
      <AmountInput label="Amount in US dollars" required data-autofocus {...form.getInputProps('amount')} />
      <TextInput
        label="Reference"
        description="Such as the invoice or transfer number. Each reference works once."
        required
        {...form.getInputProps('reference')}
      />
    </SubmitForm>
  )
}
