// What advertisers called, what came of it, and doing it again.
import { Anchor, Button, Code, Group, Modal, Paper, Select, Stack, Table, Text, TextInput } from '@mantine/core'
import { modals } from '@mantine/modals'
import { notifications } from '@mantine/notifications'
import { IconRefresh } from '@tabler/icons-react'
import { useState } from 'react'
import { Link } from 'wouter'
import type { CallPage, Reprocessed } from '../../../../../src/manage/advertisers/schema.ts'
import { post, query, type Reply } from '../../lib/api.ts'
import { mayWrite, useMe } from '../../lib/me.ts'
import { useChange, useGet } from '../../lib/queries.ts'
import { useFilters } from '../../lib/use-filters.ts'
import { Empty, Loaded } from '../page.tsx'
import { Pager, usePages } from '../pager.tsx'
import { Status } from '../status.tsx'
import { Time } from '../time.tsx'

type Call = Reply<typeof CallPage>['calls'][number]
type Results = Reply<typeof Reprocessed>

const LOOK_MS = 5_000
const OUTCOMES = ['approved', 'pending', 'rejected', 'reversed', 'duplicate', 'unmatched', 'invalid', 'refused']
const REPAIRABLE = ['unmatched', 'invalid']
const REASONS: Record<string, string> = {
  wrong_token: 'The token was wrong or missing.',
  wrong_address: 'It came from an address that is not allowed.',
}
const reasonOf = ({ reason }: Call) => (reason === null ? '' : (REASONS[reason] ?? reason))

/** Of one advertiser, or of all, those with wrong tokens included. */
export function Calls({ advertiserId }: { advertiserId?: number }) {
  const mayChange = mayWrite(useMe())
  const [filters, change] = useFilters()
  const pages = usePages()
  const [open, setOpen] = useState<Call | null>(null)
  const { outcome, click_id } = filters
  const calls = useGet<Reply<typeof CallPage>>(
    `/inbound-calls${query({ advertiser_id: advertiserId, outcome, click_id, cursor: pages.cursor })}`,
    { everyMs: LOOK_MS },
  )
  const again = useReprocess(() => setOpen(null))
  const narrow = (changed: Record<string, string | null>) => {
    pages.reset()
    change(changed)
  }
  return (
    <Stack>
      <Group align="flex-end">
        <Select
          label="Outcome"
          placeholder="all"
          clearable
          w={160}
          data={OUTCOMES}
          value={outcome ?? null}
          onChange={(value) => narrow({ outcome: value })}
        />
        <ClickFilter key={click_id ?? ''} value={click_id ?? ''} onChange={(value) => narrow({ click_id: value })} />
        {mayChange && REPAIRABLE.includes(outcome ?? '') && (calls.data?.calls.length ?? 0) > 0 && (
          <Button
            variant="default"
            leftSection={<IconRefresh size={16} />}
            loading={again.isPending}
            onClick={() => ask(calls.data?.calls ?? [], again.mutate)}
          >
            Process these {calls.data?.calls.length} again
          </Button>
        )}
      </Group>
      <Loaded query={calls}>
        {(data) =>
          data.calls.length === 0 ? (
            <Empty title={outcome === undefined && click_id === undefined ? 'No calls yet' : 'No call matches'}>
              {outcome === undefined && click_id === undefined
                ? 'When an advertiser calls its address, the call is here at once, whatever came of it.'
                : 'Take a filter away to see more.'}
            </Empty>
          ) : (
            <Stack>
              <CallTable calls={data.calls} withAdvertiser={advertiserId === undefined} onOpen={setOpen} />
              <Pager pages={pages} nextCursor={data.next_cursor} />
            </Stack>
          )
        }
      </Loaded>
      <Modal opened={open !== null} onClose={() => setOpen(null)} title="Call" size="lg">
        {open !== null && (
          <CallDetails
            call={open}
            again={mayChange && open.advertiser_id !== null ? () => again.mutate([open.inbound_id]) : null}
            isBusy={again.isPending}
          />
        )}
      </Modal>
    </Stack>
  )
}

function useReprocess(onDone: () => void) {
  return useChange((inbound_ids: string[]) => post<Results>('/inbound-calls/reprocess', { inbound_ids }), {
    refresh: ['/inbound-calls'],
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

function ask(calls: Call[], run: (ids: string[]) => void): void {
  modals.openConfirmModal({
    title: `Process ${calls.length} calls again?`,
    children: (
      <Text size="sm">
        They are read with the words and names that the advertiser has now. What is known already stays as it is.
      </Text>
    ),
    labels: { confirm: 'Process again', cancel: 'Leave them' },
    onConfirm: () => run(calls.map(({ inbound_id }) => inbound_id)),
  })
}

function ClickFilter({ value, onChange }: { value: string; onChange: (value: string) => void }) {
  const [typed, setTyped] = useState(value)
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        onChange(typed.trim())
      }}
    >
      <Group gap="xs" align="flex-end">
        <TextInput
          label="Click"
          placeholder="click_id"
          maxLength={256}
          w={{ base: 200, sm: 320 }}
          value={typed}
          onChange={(event) => setTyped(event.currentTarget.value)}
        />
        <Button type="submit" variant="default">
          Find
        </Button>
      </Group>
    </form>
  )
}

type CallTableProps = { calls: Call[]; withAdvertiser: boolean; onOpen: (call: Call) => void }

function CallTable({ calls, withAdvertiser, onOpen }: CallTableProps) {
  return (
    <Paper p={0}>
      <Table.ScrollContainer minWidth={760}>
        <Table>
          <Table.Thead>
            <Table.Tr>
              <Table.Th>When</Table.Th>
              {withAdvertiser && <Table.Th>Advertiser</Table.Th>}
              <Table.Th>Outcome</Table.Th>
              <Table.Th>Why</Table.Th>
              <Table.Th>Call</Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {calls.map((call) => (
              <Table.Tr key={call.inbound_id}>
                <Table.Td style={{ whiteSpace: 'nowrap' }}>
                  <Time at={call.received_at} ago />
                </Table.Td>
                {withAdvertiser && (
                  <Table.Td>
                    {call.advertiser_id === null ? (
                      'unknown'
                    ) : (
                      <Anchor component={Link} href={`/network/advertisers/${call.advertiser_id}`} size="sm">
                        {call.advertiser}
                      </Anchor>
                    )}
                  </Table.Td>
                )}
                <Table.Td>
                  <Status value={call.outcome} />
                </Table.Td>
                <Table.Td maw={280}>
                  <Text size="sm" lineClamp={2}>
                    {reasonOf(call)}
                  </Text>
                </Table.Td>
                <Table.Td maw={260}>
                  <Anchor component="button" type="button" size="sm" onClick={() => onOpen(call)} ta="left">
                    <Text size="sm" truncate maw={240} inherit>
                      {call.method} {call.query || call.body.slice(0, 80) || '(empty)'}
                    </Text>
                  </Anchor>
                </Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </Table.ScrollContainer>
    </Paper>
  )
}

function CallDetails({ call, again, isBusy }: { call: Call; again: (() => void) | null; isBusy: boolean }) {
  const facts: [string, string | null][] = [
    ['Why', reasonOf(call) || null],
    ['From', call.ip],
    ['Click', call.click_id],
    ['Conversion', call.conversion_id],
    ['Tries', String(call.attempts)],
  ]
  return (
    <Stack>
      <Group>
        <Status value={call.outcome} />
        <Time at={call.received_at} />
      </Group>
      {call.next_attempt_at !== null && (
        <Text size="sm">
          It is tried again by itself <Time at={call.next_attempt_at} ago />.
        </Text>
      )}
      {facts.map(([name, value]) =>
        value === null ? null : (
          <Text key={name} size="sm" style={{ overflowWrap: 'anywhere' }}>
            <b>{name}:</b> {value}
          </Text>
        ),
      )}
      <Text size="sm" fw={600}>
        As it came, its token masked
      </Text>
      <Code block style={{ whiteSpace: 'pre-wrap', overflowWrap: 'anywhere' }}>
        {`${call.method} /postback${call.query === '' ? '' : `?${call.query}`}${call.body === '' ? '' : `\n\n${call.body}`}`}
      </Code>
      {again === null ? (
        call.advertiser_id === null && (
          <Text size="sm">Nobody knows whose call this was, so it cannot be processed again.</Text>
        )
      ) : (
        <Group>
          <Button leftSection={<IconRefresh size={16} />} loading={isBusy} onClick={again}>
            Process again
          </Button>
        </Group>
      )}
    </Stack>
  )
}
