import { Anchor, Paper, Table, Text } from '@mantine/core'
import { Link } from 'wouter'
import type { AppConversionList } from '../../../../../src/manage/app-conversions/schema.ts'
import type { Reply } from '../../lib/api.ts'
import { formatUsd } from '../../lib/format.ts'
import { formatReward } from '../offers/words.ts'
import { Status } from '../status.tsx'
import { Time } from '../time.tsx'
import { explainReason, subIdsOf } from './words.ts'

type ConversionTableProps = { appId: string; conversions: Reply<typeof AppConversionList>['conversions'] }

/** What publishers chose themselves, of any length. */
const LONG = { minWidth: 120, overflowWrap: 'anywhere' } as const

export function ConversionTable({ appId, conversions }: ConversionTableProps) {
  return (
    <Paper p={0}>
      <Table.ScrollContainer minWidth={900}>
        <Table>
          <Table.Thead>
            <Table.Tr>
              <Table.Th>Time</Table.Th>
              <Table.Th>Offer</Table.Th>
              <Table.Th>User</Table.Th>
              <Table.Th>Status</Table.Th>
              <Table.Th ta="right">Payout and reward</Table.Th>
              <Table.Th>Sub-IDs</Table.Th>
              <Table.Th>Country</Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {conversions.map((one) => (
              <Table.Tr key={one.conversion_id}>
                <Table.Td>
                  <Time at={one.created_at} />
                </Table.Td>
                <Table.Td>
                  <Anchor component={Link} size="sm" href={`/apps/${appId}/conversions/${one.conversion_id}`}>
                    {one.offer_name}
                  </Anchor>
                </Table.Td>
                <Table.Td style={LONG}>{one.user_id}</Table.Td>
                <Table.Td>
                  <Status value={one.status} />
                  {one.status_reason !== null && (
                    <Text size="xs" c="dimmed">
                      {explainReason(one.status_reason)}
                    </Text>
                  )}
                </Table.Td>
                <Table.Td ta="right">
                  {formatUsd(one.payout)}
                  <Text size="xs" c="dimmed">
                    {formatReward(one.payout_local, one.currency)}
                  </Text>
                </Table.Td>
                <Table.Td style={LONG}>
                  {subIdsOf(one)
                    .map(([, value]) => value)
                    .join(', ') || '–'}
                </Table.Td>
                <Table.Td>{one.country ?? '–'}</Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </Table.ScrollContainer>
    </Paper>
  )
}
