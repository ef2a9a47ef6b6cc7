// What advertisers owe, and the note that they paid.
import { Anchor, Button, Modal, NumberInput, Paper, Stack, Table, Text, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { notifications } from '@mantine/notifications'
import { useState } from 'react'
import { Link } from 'wouter'
import type { DebtorList, ReceiptReply } from '../../../../../src/manage/ledger/schema.ts'
import { post, query, type Reply } from '../../lib/api.ts'
import { formatUsd } from '../../lib/format.ts'
import { mayWrite, useMe } from '../../lib/me.ts'
import { useChange, useGet } from '../../lib/queries.ts'
import { useFilters } from '../../lib/use-filters.ts'
import { useSubmit } from '../../lib/use-submit.ts'
import { FormFault } from '../form-fault.tsx'
import { Empty, Loaded } from '../page.tsx'
import { FilterText } from '../system/filter-text.tsx'
import { OffsetPager } from '../system/offset-pager.tsx'
import { Time } from '../time.tsx'
import { AdjustModal, type AdjustedParty } from './adjust.tsx'

const LIMIT = 50
type Debtor = Reply<typeof DebtorList>['advertisers'][number]

export function ReceiptsTab() {
  const mayNote = mayWrite(useMe())
  const [filters, change] = useFilters()
  const { search = '' } = filters
  const offset = Number(filters['offset'] ?? 0) || 0
  const debtors = useGet<Reply<typeof DebtorList>>(`/ledger/advertisers${query({ search, limit: LIMIT, offset })}`)
  const [payer, setPayer] = useState<Debtor | null>(null)
  const [adjusted, setAdjusted] = useState<AdjustedParty | null>(null)
  return (
    <Stack>
      <FilterText
        label="Advertiser"
        placeholder="Part of the name"
        maw={360}
        value={search}
        onChange={(value) => change({ search: value, offset: null })}
      />
      <Loaded query={debtors}>
        {({ advertisers, total }) =>
          advertisers.length === 0 ? (
            <Empty title={search === '' ? 'There are no advertisers yet' : 'No advertiser matches'}>
              {search === '' ? (
                <>
                  Create advertisers on <Link href="/network/advertisers">their page</Link>.
                </>
              ) : (
                'Search for part of a name.'
              )}
            </Empty>
          ) : (
            <>
              <DebtorTable advertisers={advertisers} note={mayNote ? setPayer : null} onAdjust={setAdjusted} />
              <OffsetPager
                {...{ offset, total }}
                limit={LIMIT}
                onChange={(next) => change({ offset: next === 0 ? null : String(next) })}
              />
            </>
          )
        }
      </Loaded>
      <Modal
        opened={payer !== null}
        onClose={() => setPayer(null)}
        title={`Received from ${payer?.name ?? ''}`}
        closeButtonProps={{ 'aria-label': 'Close' }}
      >
        {payer !== null && <ReceiptForm payer={payer} onDone={() => setPayer(null)} />}
      </Modal>
      <AdjustModal party={adjusted} onClose={() => setAdjusted(null)} />
    </Stack>
  )
}

type DebtorTableProps = {
  advertisers: Debtor[]
  note: ((payer: Debtor) => void) | null
  onAdjust: (party: AdjustedParty) => void
}

function DebtorTable({ advertisers, note, onAdjust }: DebtorTableProps) {
  return (
    <Paper p={0}>
      <Table.ScrollContainer minWidth={640}>
        <Table>
          <Table.Thead>
            <Table.Tr>
              <Table.Th>Advertiser</Table.Th>
              <Table.Th ta="right">Owes</Table.Th>
              <Table.Th ta="right">Unconfirmed</Table.Th>
              <Table.Th ta="right">Received so far</Table.Th>
              <Table.Th>Last received</Table.Th>
              {note !== null && <Table.Th>Actions</Table.Th>}
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {advertisers.map((one) => (
              <Table.Tr key={one.advertiser_id}>
                <Table.Td>
                  <Anchor component={Link} href={`/network/advertisers/${one.advertiser_id}`} size="sm">
                    {one.name}
                  </Anchor>
                </Table.Td>
                <Table.Td ta="right">
                  {one.receivable < 0 ? `${formatUsd(-one.receivable)} ahead` : formatUsd(one.receivable)}
                </Table.Td>
                <Table.Td ta="right">{formatUsd(one.unconfirmed)}</Table.Td>
                <Table.Td ta="right">{formatUsd(one.received)}</Table.Td>
                <Table.Td>
                  <Time at={one.last_received_at} ago none="never" />
                </Table.Td>
                {note !== null && (
                  <Table.Td>
                    <Button
                      size="xs"
                      variant="default"
                      aria-label={`Record a receipt from ${one.name}`}
                      onClick={() => note(one)}
                    >
                      Record
                    </Button>{' '}
                    <Button
                      size="xs"
                      variant="default"
                      aria-label={`Adjust the balance of ${one.name}`}
                      onClick={() => onAdjust({ advertiser_id: one.advertiser_id, name: one.name })}
                    >
                      Adjust
                    </Button>
                  </Table.Td>
                )}
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </Table.ScrollContainer>
    </Paper>
  )
}

function ReceiptForm({ payer, onDone }: { payer: Debtor; onDone: () => void }) {
  const form = useForm<{ amount: number | ''; reference: string }>({ initialValues: { amount: '', reference: '' } })
  const record = useChange((body: object) => post<Reply<typeof ReceiptReply>>('/ledger/receipts', body), {
    refresh: ['/ledger'],
    onDone: ({ is_new }) =>
      notifications.show({
        color: is_new ? 'green' : 'yellow',
        message: is_new ? 'Receipt recorded.' : 'This receipt was recorded before. Nothing was recorded now.',
      }),
    onFault: () => {},
  })
  const { onSubmit, isSending, fault } = useSubmit(form, async (values) => {
    await record.mutateAsync({ advertiser_id: payer.advertiser_id, ...values })
    onDone()
  })
  return (
    <form onSubmit={onSubmit}>
      <Stack>
        <FormFault fault={fault} />
        <Text size="sm">
          {payer.receivable > 0
            ? `${payer.name} owes ${formatUsd(payer.receivable)}.`
            : `${payer.name} owes nothing: what it pays now is ahead.`}
        </Text>
        <NumberInput
          label="Amount in US dollars"
          required
          min={0}
          max={999_999_999}
          decimalScale={4}
          data-autofocus
          {...form.getInputProps('amount')}
        />
        <TextInput
          label="Reference"
          description="Such as the number of the invoice or the transfer. It works once."
          required
          maxLength={200}
          {...form.getInputProps('reference')}
        />
        <Button type="submit" loading={isSending}>
          Record the receipt
        </Button>
      </Stack>
    </form>
  )
}
