// What is recorded about one conversion.
import { Anchor, Group, SimpleGrid, Text, Timeline } from '@mantine/core'
import type { ReactNode } from 'react'
import { Link } from 'wouter'
import type { Schemas } from '../../lib/api-types.ts'
import { formatCount, formatNoun, formatUsd } from '../../lib/format.ts'
import { userPath } from '../../lib/user-path.ts'
import { STATUS_REASONS } from '../../lib/words.ts'
import { Copyable } from '../copy.tsx'
import { DataTable } from '../data-table.tsx'
import { Detail } from '../detail.tsx'
import { Signals } from '../fraud/signals.tsx'
import { subIdsOf } from '../conversions/words.ts'
import { RequestId } from '../request-id.tsx'
import { Section } from '../section.tsx'
import { Status } from '../status.tsx'
import { Time } from '../time.tsx'
import { Standing } from './table.tsx'

export type Details = Schemas['NetworkConversion']

export function Facts({ one }: { one: Details }) {
  const subIds = subIdsOf(one)
  return (
    <Section title="Details">
      <SimpleGrid cols={{ base: 1, xs: 2, md: 3 }}>
        <Detail name="Status">
          <Standing row={one} />
        </Detail>
        <Detail name="Payout">
          {formatUsd(one.payout)} ({formatCount(one.payout_local)} {one.currency})
        </Detail>
        <Detail name="Revenue">{formatUsd(one.revenue)}</Detail>
        <Detail name="Publisher">
          <Anchor component={Link} href={`/network/publishers/${one.publisher_id}`} size="sm">
            {one.publisher}
          </Anchor>
        </Detail>
        <Detail name="App">
          <Anchor component={Link} href={`/apps/${one.app_id}`} size="sm">
            {one.app}
          </Anchor>
        </Detail>
        <Detail name="User">
          <Anchor
            component={Link}
            href={userPath(one.app_id, one.user_id)}
            size="sm"
            style={{ overflowWrap: 'anywhere' }}
          >
            {one.user_id}
          </Anchor>
        </Detail>
        <Detail name="Offer">
          <Anchor component={Link} href={`/network/offers/${one.offer_id}`} size="sm">
            {one.offer}
          </Anchor>{' '}
          (ID {one.offer_id})
        </Detail>
        <Detail name="Goal">{one.goal}</Detail>
        <Detail name="Advertiser">
          <Anchor component={Link} href={`/network/advertisers/${one.advertiser_id}`} size="sm">
            {one.advertiser}
          </Anchor>
        </Detail>
        <Detail name="Source">{one.source}</Detail>
        <Detail name="Publisher transaction ID">{one.publisher_transaction_id ?? '–'}</Detail>
        <Detail name="Advertiser transaction ID">{one.advertiser_transaction_id ?? '–'}</Detail>
        <Detail name="Sub-IDs">{subIds.map(([name, value]) => `${name}: ${value}`).join(', ') || '–'}</Detail>
        <Detail name="Mode">{one.is_test ? 'test' : 'live'}</Detail>
      </SimpleGrid>
    </Section>
  )
}

export function Evidence({ one }: { one: Details }) {
  return (
    <Section title="Click and signals" about="Signals are not visible to publishers.">
      <SimpleGrid cols={{ base: 1, xs: 2, md: 3 }}>
        <Detail name="Fraud signals">
          <Signals signals={one.signals} />
        </Detail>
        <Detail name="Click">
          {one.click_id === null ? (
            'none: reported without a click'
          ) : (
            <Copyable value={one.click_id} label="Copy the click ID" />
          )}
        </Detail>
        <Detail name="Clicked">
          <Time at={one.click_at} />
        </Detail>
        <Detail name="IP address">{one.ip ?? '–'}</Detail>
        <Detail name="Country">{one.country ?? '–'}</Detail>
        <Detail name="Device">{one.device ?? '–'}</Detail>
        <Detail name="Confirmed by the advertiser">
          <Time at={one.confirmed_at} none="not yet" />
        </Detail>
      </SimpleGrid>
    </Section>
  )
}

type Step = { at: string; title: ReactNode; about: ReactNode }

/** Everything that happened, in order: the click, every move, notes, postbacks. */
function stepsOf(one: Details): Step[] {
  const steps: Step[] = [
    ...(one.click_at === null ? [] : [{ at: one.click_at, title: 'The user followed the link', about: null }]),
    ...one.history.map((event) => ({
      at: event.created_at,
      title: (
        <Group gap={6}>
          {event.sequence === 1 ? 'Created as' : 'Changed to'} <Status value={event.status} />
        </Group>
      ),
      about: (
        <>
          {byWhom(event)}
          {event.request_id !== null && <RequestId id={event.request_id} />}
        </>
      ),
    })),
    ...one.decisions.map((decision) => ({
      at: decision.created_at,
      title: `${decision.who} decided: ${decision.action}`,
      about: decision.reason,
    })),
    ...one.postbacks.map((postback) => ({
      at: postback.settled_at ?? postback.created_at,
      title: (
        <Group gap={6}>
          Postback <Status value={postback.state} />
        </Group>
      ),
      about: `${formatNoun(postback.attempts, 'attempt')}${postback.last_status === null ? '' : `, last response ${postback.last_status}`}${postback.last_error === null ? '' : `: ${postback.last_error}`}`,
    })),
  ]
  return steps.toSorted((a, b) => a.at.localeCompare(b.at))
}

function byWhom({ actor, status_reason }: Details['history'][number]): string {
  if (status_reason === null || status_reason === actor) return `By ${actor}`
  return `By ${actor}: ${STATUS_REASONS[status_reason]}`
}

export function History({ one }: { one: Details }) {
  const steps = stepsOf(one)
  return (
    <Section title="Timeline">
      <Timeline active={steps.length} bulletSize={16} lineWidth={2}>
        {steps.map((step, i) => (
          <Timeline.Item key={i} title={step.title}>
            {step.about !== null && (
              <Text size="sm" component="div">
                {step.about}
              </Text>
            )}
            <Text size="xs" c="dimmed" component="div">
              <Time at={step.at} />
            </Text>
          </Timeline.Item>
        ))}
      </Timeline>
    </Section>
  )
}

const ACCOUNTS: Record<string, string> = {
  publisher_pending: 'Publisher, pending',
  publisher_payable: 'Publisher, payable',
  advertiser_receivable: 'Advertiser, receivable',
  advertiser_unconfirmed: 'Advertiser, unconfirmed',
  network_margin: 'Network margin',
}

export function Entries({ one }: { one: Details }) {
  return (
    <Section title="Ledger" about="Double entry: debits are positive, credits negative. Each posting sums to zero.">
      {one.entries.length === 0 ? (
        <Text size="sm">{one.is_test ? 'No entries: test conversions involve no money.' : 'No entries.'}</Text>
      ) : (
        <DataTable
          label="Ledger entries"
          isPlain
          minWidth={480}
          rows={one.entries}
          rowKey={({ entry_id }) => entry_id}
          columns={[
            { name: 'Posted', cell: ({ created_at }) => <Time at={created_at} /> },
            { name: 'Account', cell: ({ account }) => ACCOUNTS[account] ?? account },
            { name: 'Amount', isNumber: true, cell: ({ amount }) => formatUsd(amount) },
          ]}
        />
      )}
    </Section>
  )
}
