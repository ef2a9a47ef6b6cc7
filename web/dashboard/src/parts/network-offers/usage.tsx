import { Alert, Progress, Stack, Table, Text } from '@mantine/core'
import { formatCount, formatUsd } from '../../lib/format.ts'
import { Section } from '../section.tsx'
import type { OfferData } from './values.ts'

const FULL = {
  no: null,
  today: 'A daily cap is reached. The offer reopens at midnight UTC.',
  'for good': 'A total cap is reached. Raise the cap to reopen the offer.',
}

/** What an offer has used of its caps. */
export function CapUsage({ offer }: { offer: OfferData }) {
  const { usage } = offer
  if (usage === null)
    return (
      <Section title="Caps">
        <Text size="sm">This offer has no caps. Set them under Details.</Text>
      </Section>
    )
  const rows: [string, number, number | null, (amount: number) => string][] = [
    ['Clicks today', usage.today.clicks, offer.daily_click_cap, formatCount],
    ['Clicks in total', usage.total.clicks, offer.total_click_cap, formatCount],
    ['Conversions today', usage.today.conversions, offer.daily_conversion_cap, formatCount],
    ['Conversions in total', usage.total.conversions, offer.total_conversion_cap, formatCount],
    ['Payout today', usage.today.payout, offer.daily_payout_cap, formatUsd],
    ['Payout in total', usage.total.payout, offer.total_payout_cap, formatUsd],
  ]
  const full = FULL[usage.full]
  return (
    <Section title="Caps" about="Days in UTC. Clicks are counted since the first cap was set.">
      <Stack>
        {full !== null && <Alert color="yellow">{full}</Alert>}
        <Table.ScrollContainer minWidth={420}>
          <Table>
            <Table.Thead>
              <Table.Tr>
                <Table.Th>Metric</Table.Th>
                <Table.Th>Used</Table.Th>
                <Table.Th>Cap</Table.Th>
                <Table.Th w="35%">Share</Table.Th>
              </Table.Tr>
            </Table.Thead>
            <Table.Tbody>
              {rows.map(([label, used, cap, format]) => (
                <Table.Tr key={label}>
                  <Table.Td>{label}</Table.Td>
                  <Table.Td>{format(used)}</Table.Td>
                  <Table.Td>{cap === null ? 'none' : format(cap)}</Table.Td>
                  <Table.Td>{cap !== null && <Share label={label} share={used / cap} />}</Table.Td>
                </Table.Tr>
              ))}
            </Table.Tbody>
          </Table>
        </Table.ScrollContainer>
      </Stack>
    </Section>
  )
}

function Share({ label, share }: { label: string; share: number }) {
  return (
    <Progress.Root size="lg">
      <Progress.Section
        value={Math.min(100, share * 100)}
        color={share >= 1 ? 'red' : 'blue'}
        aria-label={`${label}: share of the cap`}
      />
    </Progress.Root>
  )
}
