// What users do on the wall, step by step, and what it earns.
import { SegmentedControl, SimpleGrid } from '@mantine/core'
import { useState } from 'react'
import type { Schemas } from '../../lib/api-types.ts'
import { formatCents, formatCount, formatShare } from '../../lib/format.ts'
import { useGet } from '../../lib/queries.ts'
import { Loaded } from '../page.tsx'
import { Figure } from '../reports/figure.tsx'
import { Section } from '../section.tsx'

type Funnel = Schemas['WallFunnel']

const PERIODS = [
  { value: '1', label: 'Today' },
  { value: '7', label: '7 days' },
  { value: '30', label: '30 days' },
]

export function WallFunnel({ appId }: { appId: string }) {
  const [days, setDays] = useState('7')
  const funnel = useGet(`/apps/${appId}/wall/funnel`, { query: { days } })
  return (
    <Section
      title="Funnel"
      about="Live traffic, excluding bots. Days in UTC."
      action={<SegmentedControl aria-label="Period" size="xs" data={PERIODS} value={days} onChange={setDays} />}
    >
      <Loaded query={funnel}>{(data) => <Steps funnel={data} />}</Loaded>
    </Section>
  )
}

function Steps({
  funnel: { views, opened, started, completed, payout, payout_per_thousand_views },
}: {
  funnel: Funnel
}) {
  return (
    <SimpleGrid cols={{ base: 2, sm: 3, lg: 5 }}>
      <Figure label="Views" value={formatCount(views)} meaning="How often the wall was shown." />
      <Figure
        label="Opened"
        value={formatCount(opened)}
        meaning="How often users opened the details of an offer."
        about={shareOf(opened, views, 'of views')}
      />
      <Figure
        label="Started"
        value={formatCount(started)}
        meaning="Clicks on offers of the wall."
        about={shareOf(started, opened, 'of opened')}
      />
      <Figure
        label="Completed"
        value={formatCount(completed)}
        meaning="Started offers with a pending or approved conversion, by the time of the conversion."
        about={shareOf(completed, started, 'of started')}
      />
      <Figure
        label="Per 1,000 views"
        value={payout_per_thousand_views === null ? '–' : formatCents(payout_per_thousand_views)}
        meaning="Payout of approved conversions from the wall, per 1,000 views."
        about={`${formatCents(payout)} in total`}
      />
    </SimpleGrid>
  )
}

/** What was counted since a step before is none of it: no share. */
const shareOf = (part: number, whole: number, of: string) =>
  whole === 0 || part > whole ? '' : `${formatShare(part / whole)} ${of}`
