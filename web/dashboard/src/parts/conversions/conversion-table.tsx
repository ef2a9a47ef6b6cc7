import { Anchor, Text } from '@mantine/core'
import { Link } from 'wouter'
import type { Schemas } from '../../lib/api-types.ts'
import { formatReward } from '../../lib/format.ts'
import { type Column, DataTable } from '../data-table.tsx'
import { Price } from '../money.tsx'
import { Time } from '../time.tsx'
import { StatusWithReason } from './status-with-reason.tsx'
import { subIdsOf } from './words.ts'

type Conversion = Schemas['AppConversionList']['conversions'][number]

type TableProps = { appId: string; conversions: Conversion[]; isPlain?: boolean }

export function ConversionTable({ appId, conversions, isPlain = false }: TableProps) {
  return (
    <DataTable
      rows={conversions}
      columns={columnsOf(appId)}
      rowKey={({ conversion_id }) => conversion_id}
      minWidth={900}
      isPlain={isPlain}
    />
  )
}

const offerColumn = (appId: string): Column<Conversion> => ({
  name: 'Offer',
  isText: true,
  cell: ({ conversion_id, offer_name }) => (
    <Anchor component={Link} size="sm" href={`/apps/${appId}/conversions/${conversion_id}`}>
      {offer_name}
    </Anchor>
  ),
})

const columnsOf = (appId: string): Column<Conversion>[] => [
  offerColumn(appId),
  { name: 'Time', cell: ({ created_at }) => <Time at={created_at} /> },
  { name: 'User', isText: true, cell: ({ user_id }) => user_id },
  { name: 'Status', cell: (one) => <StatusWithReason {...one} /> },
  {
    name: 'Payout',
    isNumber: true,
    cell: ({ payout, payout_local, currency }) => (
      <>
        <Price amount={payout} />
        <Text size="xs" c="dimmed">
          {formatReward(payout_local, currency)}
        </Text>
      </>
    ),
  },
  {
    name: 'Sub-IDs',
    isText: true,
    cell: (one) =>
      subIdsOf(one)
        .map(([, value]) => value)
        .join(', ') || '–',
  },
  { name: 'Country', cell: ({ country }) => country ?? '–' },
]
