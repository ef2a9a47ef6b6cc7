import { Alert, Progress, Stack, Text } from '@mantine/core'
import { formatCount, formatUsd } from '../../lib/format.ts'
import { DataTable } from '../data-table.tsx'
import { Explained } from '../reports/explained.tsx'
import { Section } from '../section.tsx'
import type { OfferData } from './values.ts'

const FULL = {
  no: null,
  today: 'A daily cap is reached. The offer reopens at midnight UTC.',
  'for good': 'A total cap is reached. Raise the cap to reopen the offer.',
}

const USED =
  'Clicks, and the conversions, payout and revenue that are neither rejected nor reversed. Rejections and reversals free up caps again.'

/** What an offer has used of its caps. */
export function CapUsage({ offer }: { offer: OfferData }) {
  const { usage } = offer
  if (usage === null)
    return (
      <Section title="Caps">
        <Text size="sm">This offer has no caps. Set them under Details.</Text>
      </Section>
    )
  const { today, total } = usage
  const rows = [
    { label: 'Clicks today', used: today.clicks, cap: offer.daily_click_cap, format: formatCount },
    { label: 'Clicks in total', used: total.clicks, cap: offer.total_click_cap, format: formatCount },
    { label: 'Conversions today', used: today.conversions, cap: offer.daily_conversion_cap, format: formatCount },
    { label: 'Conversions in total', used: total.conversions, cap: offer.total_conversion_cap, format: formatCount },
    { label: 'Payout today', used: today.payout, cap: offer.daily_payout_cap, format: formatUsd },
    { label: 'Payout in total', used: total.payout, cap: offer.total_payout_cap, format: formatUsd },
    { label: 'Revenue today', used: today.revenue, cap: offer.daily_revenue_cap, format: formatUsd },
    { label: 'Revenue in total', used: total.revenue, cap: offer.total_revenue_cap, format: formatUsd },
  ]
  const full = FULL[usage.full]
  return (
    <Section title="Caps" about="Days in UTC. Clicks are counted since the first cap was set.">
      <Stack>
        {full !== null && <Alert color="yellow">{full}</Alert>}
        <DataTable
          label="Caps"
          isPlain
          minWidth={420}
          rows={rows}
          rowKey={({ label }) => label}
          columns={[
            { name: 'Metric', cell: ({ label }) => label },
            {
              name: 'Used',
              heading: <Explained meaning={USED}>Used</Explained>,
              isNumber: true,
              cell: ({ used, format }) => format(used),
            },
            { name: 'Cap', isNumber: true, cell: ({ cap, format }) => (cap === null ? 'none' : format(cap)) },
            {
              name: 'Share',
              isText: true,
              cell: ({ label, used, cap }) => cap !== null && <Share label={label} share={used / cap} />,
            },
          ]}
        />
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
