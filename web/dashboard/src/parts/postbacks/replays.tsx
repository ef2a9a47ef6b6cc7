// Sending many again: started from what the log is filtered to, with progress, and a way to stop.
import { Button, Group, Modal, Paper, Progress, Stack, Text } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { useQuery } from '@tanstack/react-query'
import type { Schemas } from '../../lib/api-types.ts'
import { type ApiError, get, post } from '../../lib/api.ts'
import { formatCount } from '../../lib/format.ts'
import { mayWrite, useMe } from '../../lib/me.ts'
import { useMode } from '../../lib/mode.ts'
import { useChange, useGet } from '../../lib/queries.ts'
import type { Filters } from '../../lib/use-filters.ts'
import { POSTBACK_STATES } from '../../lib/statuses.ts'
import { postbackQuery } from './log.tsx'
import { Loaded } from '../page.tsx'
import { Status } from '../status.tsx'
import { Time } from '../time.tsx'

type ReplayData = Schemas['ReplayList']['replays'][number]

const POLL_MS = 1_000
const RECENT_MS = 10 * 60_000

export function ReplayButton({ base, filters }: { base: `/apps/${string}`; filters: Filters }) {
  const me = useMe()
  const [isOpen, { open, close }] = useDisclosure()
  if (!mayWrite(me)) return null
  return (
    <>
      <Button variant="default" onClick={open}>
        Resend in bulk
      </Button>
      <Modal opened={isOpen} onClose={close} title="Resend postbacks in bulk">
        <Confirm base={base} filters={filters} close={close} />
      </Modal>
    </>
  )
}

type ConfirmProps = { base: `/apps/${string}`; filters: Filters; close: () => void }

function Confirm({ base, filters, close }: ConfirmProps) {
  const { conversion_id, state, ...rest } = postbackQuery(filters, useMode())
  const isPossible = conversion_id === undefined && state !== 'queued' && state !== 'sending'
  const chosen = { ...rest, state: isPossible ? state : undefined }
  const count = useGet(isPossible ? `${base}/postback/replayable` : null, { query: chosen })
  const start = useChange(() => post(`${base}/postback/replays`, chosen), {
    refresh: [`${base}/postback`],
    done: 'Resending started.',
    onDone: close,
  })
  if (!isPossible)
    return (
      <Text size="sm">
        {conversion_id === undefined
          ? 'Queued postbacks are sent automatically. To resend others, filter the log by delivered or failed, or clear the delivery filter.'
          : 'To resend the postbacks of one conversion, open each and choose Resend, or clear the conversion filter.'}
      </Text>
    )
  return (
    <Loaded query={count}>
      {({ count: number, is_more }) => (
        <Stack>
          <Text size="sm">
            <b>
              {is_more ? 'More than ' : ''}
              {formatCount(number)}
            </b>{' '}
            {describe(chosen)}. Each keeps its ID, so your server can ignore those it has already processed. Test
            postbacks are not resent. Everything else that is due is sent first.
          </Text>
          <Group justify="flex-end">
            <Button variant="default" onClick={close}>
              Cancel
            </Button>
            <Button disabled={number === 0} loading={start.isPending} onClick={() => start.mutate(undefined)}>
              Resend {is_more ? 'all' : formatCount(number)}
            </Button>
          </Group>
        </Stack>
      )}
    </Loaded>
  )
}

type Chosen = { [K in 'mode' | 'state' | 'status' | 'from' | 'to']?: ReplayData['filter'][K] | undefined }

function describe({ mode, state, status, from, to }: Chosen): string {
  const words = [state === undefined ? 'delivered or failed' : POSTBACK_STATES[state].toLowerCase(), 'postbacks']
  if (mode === 'test') words.push('of the test key')
  if (status !== undefined) words.push(`of ${status} conversions`)
  if (from !== undefined || to !== undefined) words.push('of the selected period')
  return words.join(' ')
}

/** Those under way, and those that ended a short while ago. */
export function Replays({ base }: { base: `/apps/${string}` }) {
  const path = `${base}/postback/replays` as const
  const replays = useQuery<Schemas['ReplayList'], ApiError>({
    queryKey: [path],
    queryFn: ({ signal }) => get(path, undefined, signal),
    refetchInterval: ({ state }) => (state.data?.replays.some(isUnderWay) ? POLL_MS : false),
  })
  const isRecent = ({ finished_at }: ReplayData) =>
    finished_at !== null && Date.now() - Date.parse(finished_at) < RECENT_MS
  const shown = replays.data?.replays.filter((one) => isUnderWay(one) || isRecent(one)) ?? []
  return shown.map((one) => <OneReplay key={one.replay_id} base={base} replay={one} />)
}

const isUnderWay = ({ state, waiting }: ReplayData) => state === 'running' || waiting > 0

function OneReplay({ base, replay }: { base: `/apps/${string}`; replay: ReplayData }) {
  const me = useMe()
  const { replay_id, queued, skipped, waiting, remaining, state, created_at, filter } = replay
  const cancel = useChange(() => post(`${base}/postback/replays/${replay_id}/cancel`), {
    refresh: [`${base}/postback`],
    done: 'Stopped. Unsent postbacks are unchanged.',
  })
  const [sent, total] = [queued - waiting, queued + remaining]
  return (
    <Paper>
      <Stack gap="xs">
        <Group justify="space-between">
          <Group gap="xs">
            <Status value={isUnderWay(replay) ? 'running' : state} />
            <Text size="sm" component="div">
              Resending {describe(filter)}, started <Time at={created_at} ago />
            </Text>
          </Group>
          {isUnderWay(replay) && mayWrite(me) && (
            <Button size="xs" variant="default" loading={cancel.isPending} onClick={() => cancel.mutate(undefined)}>
              Stop
            </Button>
          )}
        </Group>
        <Progress
          value={total === 0 ? (state === 'running' ? 0 : 100) : (100 * sent) / total}
          aria-label={`Progress of resend ${replay_id}`}
        />
        <Text size="sm" c="dimmed">
          {state === 'cancelled'
            ? 'Stopped. Unsent postbacks are unchanged.'
            : `${formatCount(sent)} of ${formatCount(total)} sent`}
        </Text>
        {skipped > 0 && (
          <Text size="sm">
            {formatCount(skipped)} skipped: a later event of the same conversion was already delivered, and an older
            status must not arrive last.
          </Text>
        )}
      </Stack>
    </Paper>
  )
}
