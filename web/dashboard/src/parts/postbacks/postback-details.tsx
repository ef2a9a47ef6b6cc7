// One postback with its attempts: on its own page, and in a drawer beside the log.
import { Alert, Anchor, Button, Group, SimpleGrid, Stack } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from 'wouter'
import { type ApiError, get, post } from '../../lib/api.ts'
import { mayWrite, useMe } from '../../lib/me.ts'
import { useChange } from '../../lib/queries.ts'
import { STATUSES } from '../../lib/statuses.ts'
import { Copyable } from '../copy.tsx'
import { Detail } from '../detail.tsx'
import { Empty, Loaded } from '../page.tsx'
import { Section } from '../section.tsx'
import { Status } from '../status.tsx'
import { Time } from '../time.tsx'
import { Attempts, type PostbackData } from './attempts.tsx'

const POLL_MS = 2_000
const isUnderWay = ({ state }: PostbackData) => state === 'queued' || state === 'sending'

export function PostbackDetails({ base, postbackId }: { base: `/apps/${string}`; postbackId: string }) {
  const path = `${base}/postbacks/${encodeURIComponent(postbackId)}` as const
  const query = useQuery<{ postback: PostbackData }, ApiError>({
    queryKey: [path],
    queryFn: ({ signal }) => get(path, undefined, signal),
    refetchInterval: ({ state }) => (state.data !== undefined && isUnderWay(state.data.postback) ? POLL_MS : false),
  })
  const replay = useChange(() => post(`${path}/replay`), { refresh: [`${base}/postback`], done: 'Resent.' })
  const mayResend = mayWrite(useMe())
  return (
    <Loaded query={query}>
      {({ postback }) => (
        <Stack gap="lg">
          {mayResend && (
            <Group>
              <Button
                onClick={() => replay.mutate(undefined)}
                loading={replay.isPending}
                disabled={postback.state === 'sending'}
              >
                {isUnderWay(postback) ? 'Send now' : 'Resend'}
              </Button>
            </Group>
          )}
          {replay.data?.warning && (
            <Alert color="yellow" title="Resent, but it is not the latest">
              {replay.data.warning}
            </Alert>
          )}
          <Summary base={base} postback={postback} />
          <Section
            title="Attempts"
            about="Newest first. Values of custom headers, and anything that looks like a secret, are masked."
          >
            {postback.tries.length === 0 ? (
              <Empty title="No attempts to show">
                {isUnderWay(postback)
                  ? 'Not sent yet: the postback is queued, or the app’s postbacks are paused.'
                  : 'Attempts are kept for a limited time, and these were deleted.'}
              </Empty>
            ) : (
              <Attempts key={postback.tries.length} tries={postback.tries} />
            )}
          </Section>
        </Stack>
      )}
    </Loaded>
  )
}

function Summary({ base, postback }: { base: `/apps/${string}`; postback: PostbackData }) {
  return (
    <Section title="Summary">
      <SimpleGrid cols={{ base: 1, xs: 2, md: 3 }}>
        <Detail name="Delivery">
          <Status value={postback.state} />
        </Detail>
        <Detail name="Event">
          {STATUSES[postback.status].label}
          {postback.scenario !== null && ` (test: ${postback.scenario.replaceAll('_', ' ')})`}
        </Detail>
        <Detail name="Mode">{postback.is_test ? 'test' : 'live'}</Detail>
        <Detail name="Created">
          <Time at={postback.created_at} />
        </Detail>
        <Detail name="Completed">
          <Time at={postback.settled_at} none="not yet" />
        </Detail>
        <Detail name="Next attempt">
          <Time at={postback.next_attempt_at} none="none" />
        </Detail>
        <Detail name={postback.scenario === null ? 'Postback ID (webhook-id)' : 'Postback ID'}>
          <Copyable value={postback.postback_id} label="Copy the postback ID" />
        </Detail>
        <Detail name="Conversion">
          <Copyable value={postback.conversion_id} label="Copy the conversion ID" />
          {postback.scenario === null && (
            <Anchor component={Link} size="sm" href={`${base}/conversions/${postback.conversion_id}`}>
              View conversion
            </Anchor>
          )}
        </Detail>
        <Detail name="Last error">{postback.last_error ?? 'none'}</Detail>
      </SimpleGrid>
    </Section>
  )
}
