// What advertisers called, what came of it, and doing it again.
import { Anchor, Button, Group, Modal, Stack, Text } from '@mantine/core'
import { modals } from '@mantine/modals'
import { notifications } from '@mantine/notifications'
import { IconRefresh, IconX } from '@tabler/icons-react'
import { Link } from 'wouter'
import { post } from '../../lib/api.ts'
import { formatNoun } from '../../lib/format.ts'
import { isOperator, mayWrite, useMe } from '../../lib/me.ts'
import { useChange, useGet } from '../../lib/queries.ts'
import { useFilters } from '../../lib/use-filters.ts'
import { OUTCOMES } from '../../lib/statuses.ts'
import { choicesOf, oneOf } from '../../lib/words.ts'
import { type Column, DataTable } from '../data-table.tsx'
import { FilterBar } from '../filter-bar.tsx'
import { FilterSelect } from '../filter-select.tsx'
import { Empty, Loaded } from '../page.tsx'
import { FoundSoFar, Pager, usePages } from '../pager.tsx'
import { SearchInput } from '../search-input.tsx'
import { Status } from '../status.tsx'
import { Time } from '../time.tsx'
import { type Call, CallDetails, reasonOf } from './call-details.tsx'

const LOOK_MS = 5_000
/** Stands beside the outcomes in the filter: those that came to nothing so far. */
const OPEN = 'needs attention'
const REPAIRABLE = [OPEN, 'unmatched', 'invalid', 'refused']

/** Of one advertiser, or of all, those with wrong tokens included. */
export function Calls({ advertiserId }: { advertiserId?: number }) {
  const me = useMe()
  const mayChange = mayWrite(me)
  const path = isOperator(me) ? '/inbound-calls' : (`/advertisers/${advertiserId ?? 0}/inbound-calls` as const)
  const [filters, change] = useFilters()
  const pages = usePages()
  const { outcome, click_id, call: openId } = filters
  const open = ({ inbound_id }: Call) => change({ call: inbound_id }, { isStep: true })
  const close = () => change({ call: null })
  const only = outcome === OPEN ? { open: 'yes' as const } : { outcome: oneOf(OUTCOMES, outcome) }
  const calls = useGet(path, {
    query: { ...(isOperator(me) ? { advertiser_id: advertiserId } : {}), ...only, click_id, cursor: pages.cursor },
    everyMs: LOOK_MS,
  })
  const opened = useGet(openId === undefined ? null : path, { query: { inbound_id: openId } })
  const again = useReprocess(close)
  const dismiss = useDismiss(close)
  const listed = calls.data?.calls.filter(({ advertiser_id }) => advertiser_id !== null) ?? []
  const narrow = (changed: Record<string, string | null>) => {
    pages.reset()
    change(changed)
  }
  return (
    <Stack>
      <FilterBar
        label="Callbacks"
        filters={filters}
        change={narrow}
        names={['outcome']}
        searchName="click_id"
        search={
          <SearchInput
            label="Click"
            placeholder="click_id"
            maxLength={256}
            value={click_id}
            onChange={(value) => narrow({ click_id: value })}
          />
        }
      >
        <FilterSelect
          label="Outcome"
          data={[{ value: OPEN, label: 'Needs attention' }, ...choicesOf(OUTCOMES)]}
          value={outcome}
          onChange={(value) => narrow({ outcome: value })}
        />
      </FilterBar>
      {mayChange && REPAIRABLE.includes(outcome ?? '') && listed.length > 0 && (
        <Group>
          <Button
            variant="default"
            leftSection={<IconRefresh size={16} />}
            loading={again.isPending}
            onClick={() => ask(listed, again.mutate)}
          >
            Process all {listed.length} again
          </Button>
          {outcome === OPEN && (
            <Button
              variant="default"
              leftSection={<IconX size={16} />}
              loading={dismiss.isPending}
              onClick={() => askToDismiss(listed, dismiss.mutate)}
            >
              Dismiss all {listed.length}
            </Button>
          )}
        </Group>
      )}
      <Loaded query={calls}>
        {(data) => (
          <DataTable
            rows={data.calls}
            columns={columnsOf(advertiserId === undefined, open)}
            onOpen={open}
            rowKey={({ inbound_id }) => inbound_id}
            minWidth={760}
            pager={<Pager pages={pages} nextCursor={data.next_cursor} />}
            empty={
              data.next_cursor !== null ? (
                <FoundSoFar pages={pages} nextCursor={data.next_cursor} />
              ) : outcome === undefined && click_id === undefined ? (
                <Empty title="No callbacks yet">
                  {isOperator(me) ? 'Callbacks from advertisers' : 'Your callbacks'} appear here immediately, with their
                  outcome.
                </Empty>
              ) : (
                <Empty title="No callback matches">Clear a filter to see more.</Empty>
              )
            }
          />
        )}
      </Loaded>
      <Modal opened={openId !== undefined} onClose={close} title="Callback" size="lg">
        <Loaded query={opened}>
          {({ calls: [call] }) =>
            call === undefined ? (
              <Empty title="No longer in the log">This callback was deleted, or the URL is wrong.</Empty>
            ) : (
              <CallDetails
                call={call}
                again={mayChange && call.advertiser_id !== null ? () => again.mutate([call.inbound_id]) : null}
                dismiss={mayChange && isWithOperator(call) ? () => dismiss.mutate([call.inbound_id]) : null}
                isBusy={again.isPending || dismiss.isPending}
              />
            )
          }
        </Loaded>
      </Modal>
    </Stack>
  )
}

function useReprocess(onDone: () => void) {
  return useChange((inbound_ids: string[]) => post('/inbound-calls/reprocess', { inbound_ids }), {
    refresh: ['/inbound-calls', '/network/overview'],
    onDone: ({ results }) => {
      onDone()
      const counts = Map.groupBy(results, ({ outcome }) => outcome)
      const [only] = results
      const message =
        results.length === 1 && only !== undefined
          ? only.message
          : [...counts].map(([outcome, all]) => `${all.length} ${outcome}`).join(', ')
      notifications.show({ title: 'Processed again', message, color: 'blue' })
    },
  })
}

const isWithOperator = (call: Call) => call.is_open && call.next_attempt_at === null

function useDismiss(onDone: () => void) {
  return useChange((inbound_ids: string[]) => post('/inbound-calls/dismiss', { inbound_ids }), {
    refresh: ['/inbound-calls', '/network/overview'],
    onDone: ({ dismissed }) => {
      onDone()
      notifications.show({ message: `${dismissed.length} dismissed`, color: 'blue' })
    },
  })
}

function askToDismiss(calls: Call[], run: (ids: string[]) => void): void {
  modals.openConfirmModal({
    title: `Dismiss ${formatNoun(calls.length, 'callback')}?`,
    children: (
      <Text size="sm">
        Dismissed callbacks no longer need attention but stay in the log. Callbacks still waiting for their click are
        not dismissed.
      </Text>
    ),
    labels: { confirm: 'Dismiss', cancel: 'Cancel' },
    onConfirm: () => run(calls.map(({ inbound_id }) => inbound_id)),
  })
}

function ask(calls: Call[], run: (ids: string[]) => void): void {
  modals.openConfirmModal({
    title: `Process ${formatNoun(calls.length, 'callback')} again?`,
    children: (
      <Text size="sm">
        Callbacks are processed with the advertiser’s current mappings. Recorded conversions are not changed.
      </Text>
    ),
    labels: { confirm: 'Process again', cancel: 'Cancel' },
    onConfirm: () => run(calls.map(({ inbound_id }) => inbound_id)),
  })
}

const columnsOf = (withAdvertiser: boolean, onOpen: (call: Call) => void): (Column<Call> | false)[] => [
  {
    name: 'Callback',
    isText: true,
    cell: (call) => (
      <Anchor component="button" type="button" size="sm" onClick={() => onOpen(call)} ta="left">
        <Text size="sm" lineClamp={2} inherit>
          {call.method} {call.query || call.body.slice(0, 80) || '(empty)'}
        </Text>
      </Anchor>
    ),
  },
  { name: 'When', cell: ({ received_at }) => <Time at={received_at} ago /> },
  withAdvertiser && {
    name: 'Advertiser',
    isText: true,
    cell: ({ advertiser_id, advertiser }) =>
      advertiser_id === null ? (
        'unknown'
      ) : (
        <Anchor component={Link} href={`/network/advertisers/${advertiser_id}`} size="sm">
          {advertiser}
        </Anchor>
      ),
  },
  {
    name: 'Outcome',
    cell: ({ outcome, repeats }) => (
      <>
        <Status value={outcome} />
        {repeats !== null && (
          <Text size="xs" c="dimmed">
            +{formatNoun(repeats, 'repeat')}
          </Text>
        )}
      </>
    ),
  },
  {
    name: 'Reason',
    isText: true,
    cell: (call) => (
      <Text size="sm" lineClamp={2}>
        {reasonOf(call)}
      </Text>
    ),
  },
]
