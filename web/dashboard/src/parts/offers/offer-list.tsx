// What the users of an app would see.
import { Anchor, Button, Group, Image, Stack, Text } from '@mantine/core'
import type { Schemas } from '../../lib/api-types.ts'
import { formatCount, formatNoun, formatReward } from '../../lib/format.ts'
import { useMode } from '../../lib/mode.ts'
import { useGet } from '../../lib/queries.ts'
import { useFilters } from '../../lib/use-filters.ts'
import { CATEGORIES, labelOf, OFFER_SORTS, type OfferSort, oneOf, PLATFORMS } from '../../lib/words.ts'
import { type Column, DataTable } from '../data-table.tsx'
import { Empty, Loaded } from '../page.tsx'
import { MetricLabel } from '../reports/explained.tsx'
import { MetricValue } from '../reports/figure.tsx'
import { METRICS } from '../reports/metrics.ts'
import { OfferDrawer } from './offer-drawer.tsx'
import { OfferFilters } from './offer-filters.tsx'
import { RANK_COLUMNS } from './rank.tsx'
import { Countries, formatPlatforms } from './words.tsx'
import { Price } from '../money.tsx'

const PAGE = 20
const NAMES = ['search', 'country', 'platform', 'category', 'user_id']
type List = Schemas['AppOfferList']

export function OfferList({ appId }: { appId: string }) {
  const [filters, change] = useFilters()
  const page = Math.max(1, Math.floor(Number(filters['page'] ?? 1)) || 1)
  const { search, country, user_id } = filters
  const wanted = {
    search,
    country,
    platform: oneOf(PLATFORMS, filters['platform']),
    category: oneOf(CATEGORIES, filters['category']),
    sort: oneOf(OFFER_SORTS, filters['sort']),
    user_id,
    mode: useMode(),
    with: 'figures' as const,
    limit: PAGE,
    offset: (page - 1) * PAGE,
  }
  const list = useGet(`/apps/${appId}/offers`, { query: wanted })
  const open = (offerId: number) => change({ offer: String(offerId) }, { isStep: true })
  return (
    <Stack>
      <OfferFilters filters={filters} change={change} />
      <Loaded query={list}>
        {(data) => (
          <DataTable
            rows={data.offers}
            columns={columnsOf(open, wanted.sort)}
            onOpen={({ offer_id }) => open(offer_id)}
            rowKey={({ offer_id }) => offer_id}
            minWidth={800}
            pager={<Steps data={data} page={page} go={(next) => change({ page: next === 1 ? null : String(next) })} />}
            empty={<Nothing isFiltered={NAMES.some((name) => filters[name] !== undefined)} />}
          />
        )}
      </Loaded>
      <OfferDrawer appId={appId} offerId={filters['offer'] ?? null} onClose={() => change({ offer: null })} />
    </Stack>
  )
}

const FIGURE_COLUMNS = (['conversion_rate', 'epc'] as const).map((of) => ({
  name: METRICS[of].label,
  heading: <MetricLabel of={of} />,
  isNumber: true,
  cell: ({ figures }: List['offers'][number]) => <MetricValue of={of} value={figures?.[of] ?? null} />,
}))

const columnsOf = (open: (offerId: number) => void, sort: OfferSort | undefined): Column<List['offers'][number]>[] => [
  {
    name: 'Offer',
    isText: true,
    cell: (offer) => (
      <Group gap="sm" wrap="nowrap">
        <Image src={offer.image_url} alt="" w={40} h={40} flex="none" radius="sm" fit="cover" loading="lazy" />
        <div>
          <Anchor component="button" type="button" size="sm" fw={500} ta="left" onClick={() => open(offer.offer_id)}>
            {offer.name}
          </Anchor>
          <Text size="sm" c="dimmed">
            {labelOf(CATEGORIES, offer.category)} · {offer.offer_id}
            {offer.payment_required && ' · payment required'}
          </Text>
        </div>
      </Group>
    ),
  },
  { name: 'Reward', isNumber: true, cell: ({ payout_local, currency }) => formatReward(payout_local, currency) },
  { name: 'Payout', isNumber: true, cell: ({ payout }) => <Price amount={payout} /> },
  ...(sort === 'recommended' ? RANK_COLUMNS : FIGURE_COLUMNS),
  { name: 'Countries', cell: ({ countries }) => <Countries codes={countries} /> },
  { name: 'Platforms', cell: ({ platforms }) => formatPlatforms(platforms) },
]

const Nothing = ({ isFiltered }: { isFiltered: boolean }) =>
  isFiltered ? (
    <Empty title="No offers match">
      Clear a filter. If there are still none, check the content rules or contact the operator.
    </Empty>
  ) : (
    <Empty title="No offers yet">
      Check the content rules of this app. If they exclude nothing, contact the operator.
    </Empty>
  )

function Steps({ data, page, go }: { data: List; page: number; go: (page: number) => void }) {
  const { total, offset, offers, has_more } = data
  return (
    <Group justify="space-between">
      <Text size="sm" c="dimmed" role="status">
        {formatCount(offset + 1)} to {formatCount(offset + offers.length)} of {formatNoun(total, 'offer')}
      </Text>
      <Group gap="xs">
        <Button variant="default" size="xs" disabled={page === 1} onClick={() => go(page - 1)}>
          Previous
        </Button>
        <Button variant="default" size="xs" disabled={!has_more} onClick={() => go(page + 1)}>
          Next
        </Button>
      </Group>
    </Group>
  )
}
