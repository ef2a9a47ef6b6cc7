// A test of an advertiser's postback: each step turns green as it happens.
import { Alert, Anchor, Button, Group, Select, Stack, Text, ThemeIcon } from '@mantine/core'
import { IconCheck, IconX } from '@tabler/icons-react'
import type { ReactNode } from 'react'
import { useParams } from 'wouter'
import { post } from '../../lib/api.ts'
import type { Schemas } from '../../lib/api-types.ts'
import { formatUsd } from '../../lib/format.ts'
import { mayWriteAdvertiser, useMe } from '../../lib/me.ts'
import { useChange, useGet } from '../../lib/queries.ts'
import { useFilters } from '../../lib/use-filters.ts'
import { CopyBlock } from '../../parts/copy.tsx'
import { Empty, Loaded, Page } from '../../parts/page.tsx'
import { Section } from '../../parts/section.tsx'
import { Status } from '../../parts/status.tsx'
import { Time } from '../../parts/time.tsx'

const LOOK_MS = 1_500

export default function Tester() {
  const { advertiser_id } = useParams<{ advertiser_id: string }>()
  const base = `/advertisers/${advertiser_id}` as const
  const [filters, change] = useFilters()
  const { offer, test, link } = filters
  const offers = useGet(`${base}/offers`, { query: { limit: 100, status: 'active' } })
  const start = useChange((offer_id: number) => post(`${base}/postback-tests`, { offer_id }), {
    onDone: (started) => change({ test: started.test_id, link: started.link }),
  })
  const mayChange = mayWriteAdvertiser(useMe())
  return (
    <Page
      title="Postback test"
      about="Click a test link, then have your system call the postback URL. No money is involved, and tests are excluded from reports."
    >
      <Loaded query={offers}>
        {(data) =>
          data.offers.length === 0 ? (
            <Empty title="No active offers">You need an active offer to run a test.</Empty>
          ) : (
            <Group align="flex-end">
              <Select
                label="Offer"
                w={320}
                searchable
                allowDeselect={false}
                data={data.offers.map(({ offer_id, name }) => ({ value: String(offer_id), label: name }))}
                value={offer ?? String(data.offers[0]?.offer_id)}
                onChange={(value) => change({ offer: value, test: null, link: null })}
              />
              {mayChange && (
                <Button
                  loading={start.isPending}
                  variant={test === undefined ? 'filled' : 'default'}
                  onClick={() => start.mutate(Number(offer ?? data.offers[0]?.offer_id))}
                >
                  {test === undefined ? 'Start test' : 'Start again'}
                </Button>
              )}
            </Group>
          )
        }
      </Loaded>
      {test !== undefined && <Steps key={test} path={`${base}/postback-tests/${test}`} link={link ?? null} />}
    </Page>
  )
}

type Test = Schemas['AdvertiserTest']
type StepsProps = { path: `/advertisers/${string}/postback-tests/${string}`; link: string | null }

function Steps({ path, link }: StepsProps) {
  const test = useGet(path, { everyMs: LOOK_MS })
  return <Loaded query={test}>{(data) => <Shown test={data} link={link} />}</Loaded>
}

function Shown({ test: { click, call, conversion }, link }: { test: Test; link: string | null }) {
  return (
    <Section title="Steps" about="Steps complete automatically.">
      <Stack gap="lg" role="list">
        <Step number={1} title="Click the link" isDone={click !== null}>
          {click === null ? (
            <>
              {link !== null && (
                <Anchor href={link} target="_blank" rel="noreferrer" size="sm">
                  Open the test link
                </Anchor>
              )}
              <Text size="sm" c="dimmed">
                The link leads to your destination URL, with the click ID filled in.
              </Text>
            </>
          ) : (
            <Text size="sm">
              Click {click.click_id}, <Time at={click.clicked_at} ago />
            </Text>
          )}
        </Step>
        <Step number={2} title="Call the postback URL" isDone={call !== null}>
          {click !== null && call === null && (
            <>
              <Text size="sm">
                Your system calls this URL, with your token in place of YOUR_TOKEN. You can also call it by hand.
              </Text>
              <CopyBlock value={click.callback_url} label="Copy the URL" />
              <Text size="sm" c="dimmed">
                If your call does not show up here, its token is wrong: check the response to your call.
              </Text>
            </>
          )}
          {call !== null && (
            <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
              {call.method} {call.query} · <Time at={call.received_at} ago />
            </Text>
          )}
        </Step>
        <Step
          number={3}
          title="Callback processed"
          isDone={call?.is_understood === true}
          isFailed={call !== null && !call.is_understood}
        >
          {call !== null && !call.is_understood && (
            <Alert color="red" title={`Outcome: ${call.outcome}`}>
              {call.reason} Fix this, then call again.
            </Alert>
          )}
        </Step>
        <Step number={4} title="Conversion created" isDone={conversion !== null}>
          {conversion !== null && (
            <Group gap="xs">
              <Status value={conversion.status} />
              <Text size="sm">
                {conversion.goal}, {formatUsd(conversion.spend)} (test: nothing is owed)
              </Text>
            </Group>
          )}
        </Step>
      </Stack>
    </Section>
  )
}

type StepProps = { number: number; title: string; isDone: boolean; isFailed?: boolean; children?: ReactNode }

function Step({ number, title, isDone, isFailed = false, children }: StepProps) {
  return (
    <Group align="flex-start" wrap="nowrap" role="listitem">
      {isDone || isFailed ? (
        <ThemeIcon radius="xl" size="sm" color={isDone ? 'green.8' : 'red.8'}>
          {isDone ? <IconCheck size={14} aria-label="done" /> : <IconX size={14} aria-label="failed" />}
        </ThemeIcon>
      ) : (
        <ThemeIcon radius="xl" size="sm" variant="default">
          <Text size="xs">{number}</Text>
        </ThemeIcon>
      )}
      <Stack gap={4} style={{ minWidth: 0, flex: 1 }}>
        <Text fw={600} size="sm">
          {title}
        </Text>
        {children}
      </Stack>
    </Group>
  )
}
