import { Anchor, Button, Stack } from '@mantine/core'
import { IconPlus } from '@tabler/icons-react'
import { Link } from 'wouter'
import type { Schemas } from '../../lib/api-types.ts'
import { formatCount, formatNoun } from '../../lib/format.ts'
import { mayWrite, useMe } from '../../lib/me.ts'
import { useGet } from '../../lib/queries.ts'
import { type Column, DataTable } from '../../parts/data-table.tsx'
import { ProductRuleSection } from '../../parts/feeds/product-rule.tsx'
import { RatesSection } from '../../parts/feeds/rates.tsx'
import { statusOf } from '../../parts/feeds/run.tsx'
import { Empty, Loaded, Page } from '../../parts/page.tsx'
import { Pager, usePages } from '../../parts/pager.tsx'
import { Status } from '../../parts/status.tsx'
import { NextRun } from '../../parts/feeds/next-run.tsx'

export default function Feeds() {
  const mayChange = mayWrite(useMe())
  const pages = usePages()
  const feeds = useGet('/feeds', { query: { limit: 100, cursor: pages.cursor }, everyMs: 10_000 })
  return (
    <Page
      title="Feeds"
      about="Offers from other networks, fetched on a schedule and kept up to date."
      actions={
        mayChange && (
          <Button component={Link} href="/network/feeds/new" leftSection={<IconPlus size={16} />}>
            Add feed
          </Button>
        )
      }
    >
      <Stack gap="lg">
        <Loaded query={feeds}>
          {(data) => (
            <DataTable
              label="Feeds"
              rows={data.feeds}
              columns={COLUMNS}
              rowKey={({ feed_id }) => feed_id}
              pager={<Pager pages={pages} nextCursor={data.next_cursor} />}
              empty={
                <Empty title="No feeds yet">
                  Add a feed: choose a network, enter your key, check the preview, then start the feed.
                </Empty>
              }
            />
          )}
        </Loaded>
        {feeds.data !== undefined && feeds.data.feeds.length > 0 && (
          <ProductRuleSection mayChange={mayChange} advertisers={advertisersOf(feeds.data.feeds)} />
        )}
        <RatesSection mayChange={mayChange} />
      </Stack>
    </Page>
  )
}

const advertisersOf = (feeds: Schemas['FeedList']['feeds']) =>
  [...new Map(feeds.map(({ advertiser_id, advertiser }) => [advertiser_id, advertiser]))].map(([id, name]) => ({ value: String(id), label: name })) // prettier-ignore

const COLUMNS: Column<Schemas['FeedList']['feeds'][number]>[] = [
  {
    name: 'Name',
    isText: true,
    cell: ({ feed_id, name }) => (
      <Anchor component={Link} href={`/network/feeds/${feed_id}`} fw={500} size="sm">
        {name}
      </Anchor>
    ),
  },
  {
    name: 'Active offers',
    isNumber: true,
    cell: ({ advertiser_id, name, active_offers, offers }) => (
      <Anchor
        component={Link}
        href={`/network/offers?advertiser_id=${advertiser_id}`}
        size="sm"
        aria-label={`${active_offers} of ${offers} offers of ${name}`}
      >
        {formatCount(active_offers)} of {formatCount(offers)}
      </Anchor>
    ),
  },
  {
    name: 'Latest run',
    isShort: true,
    cell: ({ latest_run }) => (latest_run === null ? 'none yet' : <Status value={statusOf(latest_run)} />),
  },
  {
    name: 'To do',
    isText: true,
    cell: ({ latest_run, held_offers }) =>
      latest_run?.message || (held_offers > 0 && `${formatNoun(held_offers, 'payout change')} to approve`),
  },
  {
    name: 'Next run',
    isShort: true,
    cell: ({ is_paused, next_run_at }) => (is_paused ? <Status value="paused" /> : <NextRun at={next_run_at} />),
  },
]
