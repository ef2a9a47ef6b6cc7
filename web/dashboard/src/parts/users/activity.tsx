// What a user of an app did, and what came of it.
import { Anchor, Text } from '@mantine/core'
import { Link } from 'wouter'
import type { Schemas } from '../../lib/api-types.ts'
import { countryName } from '../../lib/countries.ts'
import { formatReward } from '../../lib/format.ts'
import { ENTRY_KINDS } from '../../lib/words.ts'
import { type Column, DataTable } from '../data-table.tsx'
import { Time } from '../time.tsx'

type User = Schemas['AppUser']
type Entry = User['entries'][number]
type Click = User['clicks'][number]

export function BalanceOfUser({ appId, user: { entries, currency } }: { appId: string; user: User }) {
  return (
    <DataTable
      rows={entries}
      columns={entryColumns(appId, currency)}
      rowKey={({ entry_id }) => entry_id}
      label="Balance entries"
      isPlain
      empty={<Text c="dimmed">No entries yet.</Text>}
    />
  )
}

const entryColumns = (appId: string, currency: string): Column<Entry>[] => [
  {
    name: 'Entry',
    cell: ({ kind, conversion_id }) =>
      conversion_id === null ? (
        ENTRY_KINDS[kind]
      ) : (
        <Anchor component={Link} size="sm" href={`/apps/${appId}/conversions/${conversion_id}`}>
          {ENTRY_KINDS[kind]}
        </Anchor>
      ),
  },
  { name: 'Time', cell: ({ created_at }) => <Time at={created_at} /> },
  { name: 'Amount', isNumber: true, cell: ({ amount }) => formatReward(amount, currency) },
  { name: 'Note', isText: true, cell: ({ note }) => note ?? '–' },
]

export function ClicksOfUser({ appId, clicks }: { appId: string; clicks: Click[] }) {
  return (
    <DataTable
      rows={clicks}
      columns={clickColumns(appId)}
      rowKey={({ click_id }) => click_id}
      label="Latest clicks"
      isPlain
      empty={<Text c="dimmed">No clicks.</Text>}
    />
  )
}

const clickColumns = (appId: string): Column<Click>[] => [
  {
    name: 'Offer',
    isText: true,
    cell: ({ offer_id, offer_name }) => (
      <Anchor component={Link} size="sm" href={`/apps/${appId}/offers/${offer_id}`}>
        {offer_name}
      </Anchor>
    ),
  },
  { name: 'Time', cell: ({ clicked_at }) => <Time at={clicked_at} /> },
  { name: 'Country', cell: ({ country }) => (country === null ? '–' : countryName(country)) },
  { name: 'Device', cell: ({ device, os }) => [device, os].filter((word) => word !== null).join(', ') || '–' },
]
