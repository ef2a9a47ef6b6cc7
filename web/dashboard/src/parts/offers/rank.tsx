// Why an offer stands where it stands on the wall.
import { Text } from '@mantine/core'
import type { Schemas } from '../../lib/api-types.ts'
import { formatNoun } from '../../lib/format.ts'
import type { Column } from '../data-table.tsx'
import { MetricValue } from '../reports/figure.tsx'

type Rank = Schemas['OfferRank']

export const ExpectedEpc = ({ rank: { expected_epc, clicks } }: { rank: Rank }) => (
  <>
    <MetricValue of="epc" value={expected_epc} />
    <Text size="sm" c="dimmed">
      {clicks === 0 ? 'no clicks yet' : `from about ${formatNoun(clicks, 'click')}`}
    </Text>
  </>
)

export const RankReasons = ({ rank: { reasons } }: { rank: Rank }) =>
  reasons.map(({ code, message }) => (
    <Text key={code} size="sm">
      {message}
    </Text>
  ))

/** For lists in the order of the wall. */
export const RANK_COLUMNS: Column<{ rank?: Rank | undefined }>[] = [
  { name: 'Expected EPC', isNumber: true, cell: ({ rank }) => rank !== undefined && <ExpectedEpc rank={rank} /> },
  {
    name: 'Reason for this position',
    isText: true,
    cell: ({ rank }) => rank !== undefined && <RankReasons rank={rank} />,
  },
]
