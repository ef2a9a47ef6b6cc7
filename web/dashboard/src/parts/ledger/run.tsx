// One payment run: exported for the bank, then marked as paid, or cancelled; as a whole or line by line.
import { Alert, Anchor, Button, Group, SimpleGrid, Stack, Text } from '@mantine/core'
import { modals } from '@mantine/modals'
import { notifications } from '@mantine/notifications'
import { IconDownload } from '@tabler/icons-react'
import { useState } from 'react'
import { Link } from 'wouter'
import type { Schemas } from '../../lib/api-types.ts'
import { post } from '../../lib/api.ts'
import { formatCents, formatCount, formatNoun } from '../../lib/format.ts'
import { mayWrite, useMe } from '../../lib/me.ts'
import { useChange, useGet } from '../../lib/queries.ts'
import type { BodyOf } from '../../lib/operations.ts'
import { Loaded } from '../page.tsx'
import { Status } from '../status.tsx'
import { Fact } from '../system/fact.tsx'
import { Time } from '../time.tsx'
import { ReasonModal } from './reason-form.tsx'
import { type Line, RunLines } from './run-lines.tsx'

type RunData = Schemas['PaymentRun']

export function PaymentRun({ runId }: { runId: string }) {
  const base = `/ledger/payment-runs/${encodeURIComponent(runId)}` as const
  const found = useGet(base)
  const mayPay = mayWrite(useMe())
  const [cancelling, setCancelling] = useState<Line | 'run' | null>(null)
  const { pay, cancel } = useRunChanges(base)
  return (
    <Stack>
      <Anchor component={Link} href="/network/ledger?view=runs" size="sm">
        All payment runs
      </Anchor>
      <Loaded query={found}>
        {(run) => (
          <Stack>
            <Summary run={run} />
            {mayPay && run.due > 0 && (
              <Actions
                base={base}
                run={run}
                onPay={() => confirmPay(run, () => pay.mutate({}))}
                onCancel={() => setCancelling('run')}
              />
            )}
            <RunLines
              base={base}
              onPay={
                mayPay
                  ? (line) =>
                      line.is_short || line.is_suspended
                        ? confirmSent(line, pay.mutate)
                        : pay.mutate({ publisher_ids: [line.publisher_id] })
                  : null
              }
              onCancel={mayPay ? setCancelling : null}
            />
          </Stack>
        )}
      </Loaded>
      <ReasonModal
        opened={cancelling !== null}
        title={cancelling === 'run' || cancelling === null ? `Cancel run ${runId}` : `Cancel ${cancelling.name}`}
        about="Cancelled amounts stay on the balance and can be included in the next run."
        action={cancelling === 'run' ? 'Cancel run' : 'Cancel line'}
        onClose={() => setCancelling(null)}
        send={(reason) =>
          cancel.mutateAsync({
            reason,
            ...(cancelling === 'run' || cancelling === null ? {} : { publisher_ids: [cancelling.publisher_id] }),
          })
        }
      />
    </Stack>
  )
}

type PayBody = { publisher_ids?: number[]; is_sent?: boolean }

function useRunChanges(base: `/ledger/payment-runs/${string}`) {
  const pay = useChange((body: PayBody) => post(`${base}/pay`, body), {
    refresh: ['/ledger'],
    onDone: ({ results }) => {
      const paid = results.filter(({ outcome }) => outcome === 'paid').length
      const heldBack = results.filter(({ outcome }) => outcome === 'short' || outcome === 'suspended').length
      if (paid > 0) notifications.show({ color: 'green', message: `${formatCount(paid)} marked as paid.` })
      if (heldBack > 0)
        notifications.show({
          color: 'yellow',
          title: `${formatCount(heldBack)} not marked as paid`,
          message:
            'The publisher is suspended, or the balance no longer covers the amount. Cancel the line, or mark it individually if the money was sent.',
        })
    },
  })
  const cancel = useChange(
    (body: BodyOf<'POST /ledger/payment-runs/{run_id}/cancel'>) => post(`${base}/cancel`, body),
    {
      refresh: ['/ledger'],
      done: 'Cancelled.',
      onError: () => {},
    },
  )
  return { pay, cancel }
}

function Summary({ run }: { run: RunData }) {
  return (
    <SimpleGrid cols={{ base: 2, lg: 5 }}>
      <Fact name={`Run ${run.run_id}`} about={run.created_by}>
        <Status value={run.status} />
      </Fact>
      <Fact name="Created" about={`Owed at least ${formatCents(run.minimum)}`}>
        <Time at={run.created_at} ago />
      </Fact>
      <Fact name="Total" about={formatNoun(run.lines, 'publisher')}>
        {formatCents(run.total)}
      </Fact>
      <Fact name="Paid" about={`${formatCount(run.paid)} of ${formatCount(run.lines)}`}>
        {formatCents(run.paid_total)}
      </Fact>
      <Fact name="Due" about={`${formatCount(run.due)} of ${formatCount(run.lines)}`}>
        {formatCents(run.due_total)}
      </Fact>
    </SimpleGrid>
  )
}

type ActionsProps = { base: `/ledger/payment-runs/${string}`; run: RunData; onPay: () => void; onCancel: () => void }

function Actions({ base, run, onPay, onCancel }: ActionsProps) {
  const download = () => window.location.assign(`/manage/v1${base}/lines.csv`)
  const settle = useChange(() => post(`${base}/export`), {
    refresh: ['/ledger'],
    onDone: ({ run: { due }, cancelled }) => {
      if (cancelled > 0)
        notifications.show({
          color: 'yellow',
          title: `${formatCount(cancelled)} cancelled`,
          message: 'See each line for the reason: the balance fell below the amount, or the publisher was suspended.',
        })
      if (due > 0) download()
    },
  })
  return (
    <Alert color="blue">
      <Stack gap="xs" align="flex-start">
        <Text size="sm">
          {run.status === 'open'
            ? 'Export the file, pay with your bank or provider, then mark the run as paid. Offerdeck does not move money.'
            : 'Mark as paid what your bank or provider has sent. The file lists what is still due.'}
        </Text>
        <Group gap="xs">
          <Button
            leftSection={<IconDownload size={16} />}
            variant="default"
            loading={settle.isPending}
            onClick={() => settle.mutate(undefined)}
          >
            Export CSV
          </Button>
          <Button onClick={onPay}>Mark all as paid</Button>
          <Button variant="default" onClick={onCancel}>
            Cancel run
          </Button>
        </Group>
      </Stack>
    </Alert>
  )
}

const confirmPay = ({ run_id, due, due_total }: RunData, onConfirm: () => void) =>
  modals.openConfirmModal({
    title: `Mark run ${run_id} as paid`,
    children: (
      <Text size="sm">
        {formatCents(due_total)} to {formatNoun(due, 'publisher')}. A payment that was marked by mistake can be voided.
      </Text>
    ),
    labels: { confirm: 'Mark as paid', cancel: 'Back' },
    onConfirm,
  })

const confirmSent = (line: Line, pay: (body: PayBody) => void) =>
  modals.openConfirmModal({
    title: `Was ${line.name} paid?`,
    children: (
      <Stack gap="xs">
        {line.is_suspended && <Text size="sm">This publisher was suspended after the run was created.</Text>}
        {line.is_short && (
          <Text size="sm">
            The balance is {formatCents(line.payable_now ?? 0)}, less than the {formatCents(line.amount)} of this run.
            If it was paid, the balance falls below zero and is settled with later earnings.
          </Text>
        )}
        <Text size="sm">Mark the line as paid only if the money was sent. Otherwise cancel the line.</Text>
      </Stack>
    ),
    labels: { confirm: 'Mark as paid', cancel: 'Back' },
    confirmProps: { color: 'red' },
    onConfirm: () => pay({ publisher_ids: [line.publisher_id], is_sent: true }),
  })
