import { Button, Group } from '@mantine/core'
import { useLocation } from 'wouter'
import type { Schemas } from '../../lib/api-types.ts'
import { remove } from '../../lib/api.ts'
import { formatNoun } from '../../lib/format.ts'
import { useChange } from '../../lib/queries.ts'
import { confirm } from '../confirm.tsx'
import { Section } from '../section.tsx'

export function RemoveSection({ feed }: { feed: Schemas['Feed'] }) {
  const [, navigate] = useLocation()
  const removeFeed = useChange(
    async () => {
      await remove(`/feeds/${feed.feed_id}`)
      navigate('/network/feeds') // before it is asked for again
    },
    { refresh: ['/feeds', '/offers'], done: `The feed “${feed.name}” is removed.` },
  )
  const ask = async () => {
    const isSure = await confirm({
      title: `Remove the feed “${feed.name}”?`,
      text: `${formatNoun(feed.active_offers, 'active offer')} will be paused immediately. To get them back, add a feed for ${feed.advertiser} again.`,
      action: 'Remove feed',
    })
    if (isSure) removeFeed.mutate(undefined)
  }
  return (
    <Section
      title="Remove feed"
      about="The feed is no longer fetched, its credentials are deleted, and its offers are paused. Conversions that the network reports later still count. If you only want to stop fetching, pause the feed instead."
    >
      <Group>
        <Button color="red" variant="outline" loading={removeFeed.isPending} onClick={() => void ask()}>
          Remove feed
        </Button>
      </Group>
    </Section>
  )
}
