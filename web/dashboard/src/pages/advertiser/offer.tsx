// One of an advertiser's offers: what users see, what it pays, what its caps have left.
import { Alert, Button, Stack, Text } from '@mantine/core'
import { Link, useParams } from 'wouter'
import { post } from '../../lib/api.ts'
import type { Schemas } from '../../lib/api-types.ts'
import { formatCount, formatUsd } from '../../lib/format.ts'
import { mayWriteAdvertiser, useMe } from '../../lib/me.ts'
import { useChange, useGet } from '../../lib/queries.ts'
import { CATEGORIES } from '../../lib/words.ts'
import { confirm } from '../../parts/confirm.tsx'
import { DataTable } from '../../parts/data-table.tsx'
import { type Fact, Facts } from '../../parts/facts.tsx'
import { Loaded, Page } from '../../parts/page.tsx'
import { Section } from '../../parts/section.tsx'
import { Status } from '../../parts/status.tsx'
import { Time } from '../../parts/time.tsx'
import { formatAllCountries, formatPlatforms } from '../../parts/offers/words.tsx'

type Offer = Schemas['AdvertiserOffer']
type OfferPath = `/advertisers/${string}/offers/${string}`

export default function OfferPage() {
  const { advertiser_id, offer_id } = useParams<{ advertiser_id: string; offer_id: string }>()
  const path = `/advertisers/${advertiser_id}/offers/${offer_id}` as const
  const offer = useGet(path)
  return <Loaded query={offer}>{(data) => <Shown path={path} offer={data} />}</Loaded>
}

function Shown({ path, offer }: { path: OfferPath; offer: Offer }) {
  return (
    <Page
      title={offer.name}
      about={`Offer ${offer.offer_id} · external ID ${offer.external_id}`}
      actions={
        <>
          <ProposeButton path={path} offer={offer} />
          <PauseButton path={path} offer={offer} />
        </>
      }
    >
      <Stack gap="lg">
        {offer.paused_by !== null && <Alert color="gray">{PAUSES[offer.paused_by]}</Alert>}
        {offer.is_out_of_budget && (
          <Alert color="yellow">Your budget is used up. All your offers are closed; see Overview.</Alert>
        )}
        <Section title="Details">
          <Facts label="Details" facts={factsOf(offer)} />
        </Section>
        <Section title="Goals" about="What a user completes, and what you pay for it.">
          <DataTable
            isPlain
            rows={offer.goals}
            rowKey={({ goal_id }) => goal_id}
            minWidth={480}
            columns={[
              { name: 'Goal', isText: true, cell: ({ name }) => name },
              { name: 'ID', cell: ({ goal_id }) => goal_id },
              { name: 'External ID', isText: true, cell: ({ external_id }) => external_id ?? '–' },
              { name: 'You pay', isNumber: true, cell: priceOf },
            ]}
          />
        </Section>
        <Usage offer={offer} />
      </Stack>
    </Page>
  )
}

/** One proposal waits for an offer at a time. */
function ProposeButton({ path, offer: { waiting_proposal_id } }: { path: OfferPath; offer: Offer }) {
  const mayChange = mayWriteAdvertiser(useMe())
  if (waiting_proposal_id !== null)
    return (
      <Button component={Link} href={path.replace(/offers.*$/, `proposals/${waiting_proposal_id}`)} variant="default">
        View proposal
      </Button>
    )
  return mayChange ? (
    <Button component={Link} href={`${path}/edit`} variant="default">
      Propose changes
    </Button>
  ) : null
}

function PauseButton({ path, offer }: { path: OfferPath; offer: Offer }) {
  const mayChange = mayWriteAdvertiser(useMe())
  const refresh = [path.slice(0, path.lastIndexOf('/'))]
  const pause = useChange(() => post(`${path}/pause`), { refresh, done: 'Offer paused.' })
  const resume = useChange(() => post(`${path}/resume`), { refresh, done: 'Offer resumed.' })
  const ask = async () => {
    const text = 'The offer leaves all lists immediately. Users who have already clicked can still complete it.'
    if (await confirm({ title: `Pause ${offer.name}?`, text, action: 'Pause' })) pause.mutate(undefined)
  }
  if (!mayChange || offer.paused_by === 'operator') return null
  return offer.paused_by === 'advertiser' ? (
    <Button loading={resume.isPending} onClick={() => resume.mutate(undefined)}>
      Resume offer
    </Button>
  ) : (
    <Button variant="default" loading={pause.isPending} onClick={() => void ask()}>
      Pause offer
    </Button>
  )
}

const PAUSES = {
  advertiser: 'You paused this offer.',
  operator: 'The operator paused this offer.',
} as const

const priceOf = ({ revenue, revenue_percent }: Offer['goals'][number]) =>
  revenue_percent === null ? formatUsd(revenue) : `${revenue_percent} % of the amount`

const factsOf = (offer: Offer): Fact[] => [
  ['Status', <Status key="status" value={offer.state} />],
  ['Category', CATEGORIES[offer.category]],
  ['Destination', offer.destination_url],
  ['Countries', formatAllCountries(offer.countries)],
  ['Platforms', formatPlatforms(offer.platforms)],
  ['Description', offer.description],
  ['Requirements', offer.requirements === '' ? '–' : offer.requirements],
  ['Starts', offer.starts_at === null ? 'started' : <Time key="starts" at={offer.starts_at} />],
  ['Ends', offer.ends_at === null ? 'never' : <Time key="ends" at={offer.ends_at} />],
]

const FULL = {
  no: null,
  today: 'A daily cap is reached. The offer reopens at midnight UTC.',
  'for good': 'A total cap is reached. The offer stays closed until the cap is raised.',
}

function Usage({ offer }: { offer: Offer }) {
  const { usage } = offer
  const full = usage === null ? null : FULL[usage.full]
  const rows = [
    { label: 'Clicks today', used: usage?.today.clicks, cap: offer.daily_click_cap, format: formatCount },
    { label: 'Clicks in total', used: usage?.total.clicks, cap: offer.total_click_cap, format: formatCount },
    {
      label: 'Conversions today',
      used: usage?.today.conversions,
      cap: offer.daily_conversion_cap,
      format: formatCount,
    },
    {
      label: 'Conversions in total',
      used: usage?.total.conversions,
      cap: offer.total_conversion_cap,
      format: formatCount,
    },
    { label: 'Spend today', used: usage?.today.spend, cap: offer.daily_revenue_cap, format: formatUsd },
    { label: 'Spend in total', used: usage?.total.spend, cap: offer.total_revenue_cap, format: formatUsd },
  ].filter(({ cap }) => cap !== null)
  return (
    <Section title="Caps" about="Days in UTC. Clicks are counted since the first cap was set.">
      {full !== null && <Alert color="yellow">{full}</Alert>}
      {rows.length === 0 ? (
        <Text size="sm">This offer has no caps on clicks, conversions or spend.</Text>
      ) : (
        <DataTable
          label="Caps"
          isPlain
          minWidth={420}
          rows={rows}
          rowKey={({ label }) => label}
          columns={[
            { name: 'Metric', cell: ({ label }) => label },
            { name: 'Used', isNumber: true, cell: ({ used, format }) => format(used ?? 0) },
            { name: 'Cap', isNumber: true, cell: ({ cap, format }) => format(cap ?? 0) },
          ]}
        />
      )}
    </Section>
  )
}
