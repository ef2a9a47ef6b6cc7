import { Alert, Anchor, Button, Group, Stack, Text } from '@mantine/core'
import { Link } from 'wouter'
import { post } from '../../lib/api.ts'
import { useChange, useGet } from '../../lib/queries.ts'
import { shortValue } from './run.tsx'

/** For an offer that another one is listed in place of. */
export const BehindNotice = ({ offerId }: { offerId: number }) => (
  <Alert color="blue" title="This offer is not listed" role="note">
    <Text size="sm">
      Listed instead:{' '}
      <Anchor component={Link} href={`/network/offers/${offerId}`} inherit underline="always">
        offer {offerId}
      </Anchor>
      , which is for the same product. Its links still work. The rule is set under Feeds.
    </Text>
  </Alert>
)

/** For an offer of a feed: that its fields are overwritten, but for those that were edited here. */
export function OfferFeed({ offerId, mayChange }: { offerId: number; mayChange: boolean }) {
  const feed = useGet(`/offers/${offerId}/feed`).data?.feed
  const release = useChange((fields: string[]) => post(`/offers/${offerId}/follow-feed`, { fields }), {
    refresh: [`/offers/${offerId}`],
    done: 'The next run will restore the feed’s value.',
  })
  if (feed === undefined || feed === null) return null
  return (
    <Alert color="blue" title="This offer comes from a feed" role="note">
      <Stack gap="xs">
        <Text size="sm">
          <Anchor component={Link} href={`/network/feeds/${feed.feed_id}`} inherit underline="always">
            {feed.name}
          </Anchor>{' '}
          keeps this offer up to date, except the fields that you edit here.
        </Text>
        {feed.pinned.map(({ field, feed_value }) => (
          <Group key={field} gap="xs">
            <Text size="sm">
              Edited: {field.replaceAll('_', ' ')}. In the feed: “{shortValue(feed_value)}”.
            </Text>
            {mayChange && (
              <Button
                size="compact-xs"
                variant="default"
                loading={release.isPending}
                onClick={() => release.mutate([field])}
              >
                Follow the feed
              </Button>
            )}
          </Group>
        ))}
      </Stack>
    </Alert>
  )
}
