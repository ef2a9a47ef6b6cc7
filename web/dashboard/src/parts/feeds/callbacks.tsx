// What a network is given to confirm conversions with, and how its callbacks are read.
import { Button, Stack, Text } from '@mantine/core'
import { Link } from 'wouter'
import type { Schemas } from '../../lib/api-types.ts'
import { useGet } from '../../lib/queries.ts'
import { RuleList } from '../advertisers/call-rules.tsx'
import { CopyBlock } from '../copy.tsx'
import { Loaded } from '../page.tsx'
import { Section } from '../section.tsx'

export function Callbacks({ feed, mayChange }: { feed: Schemas['Feed']; mayChange: boolean }) {
  const advertiser = useGet(`/advertisers/${feed.advertiser_id}`)
  const page = `/network/advertisers/${feed.advertiser_id}`
  return (
    <Stack gap="lg">
      <Section
        title="Postback URL"
        about={`Paste this URL into the network’s system, with the token of the advertiser in place of ${feed.token_place}.`}
      >
        <CopyBlock value={feed.postback_url} label="Copy the URL" />
        {feed.notes.map((note) => (
          <Text key={note} size="sm">
            {note}
          </Text>
        ))}
        <Button component={Link} href={page} variant="default" style={{ alignSelf: 'flex-start' }}>
          Token and callbacks of {feed.advertiser}
        </Button>
      </Section>
      <Section
        title="Callback rules"
        about={`The rules of ${feed.advertiser}. They apply to all feeds of this advertiser. Rules set by a network preset cannot be changed.`}
        action={
          mayChange && (
            <Button component={Link} href={`${page}?tab=dialect`} variant="default" size="xs">
              Change callback settings
            </Button>
          )
        }
      >
        <Loaded query={advertiser}>{({ call_rules }) => <RuleList rules={call_rules} />}</Loaded>
      </Section>
    </Stack>
  )
}
