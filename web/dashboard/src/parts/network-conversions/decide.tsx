// Asks before conversions are approved, rejected or reversed, does it, and says what came of each.
import { Alert, Button, Group, Modal, Progress, Select, Stack, Text, Textarea } from '@mantine/core'
import { useState } from 'react'
import type { MoveReasons } from '../../../../../src/manage/operator/conversions/schema.ts'
import { formatCount, formatNoun } from '../../lib/format.ts'
import { STATUS_REASONS } from '../../lib/words.ts'
import { DataTable } from '../data-table.tsx'
import { FormError } from '../form-error.tsx'
import { type MoveReason, type MoveResult, type MoveTo, useMoves } from './use-moves.ts'

export const VERBS: Record<MoveTo, string> = { approved: 'Approve', rejected: 'Reject', reversed: 'Reverse' }

const ABOUT: Record<MoveTo, string> = {
  approved:
    'The payout becomes payable and the publisher is notified by postback. Only pending conversions can be approved.',
  rejected:
    'Permanent: rejected conversions are never paid. The publisher is notified by postback. Only pending conversions can be rejected.',
  reversed:
    'Permanent: the payout is deducted and the publisher is notified by postback. Only approved conversions can be reversed.',
}

/** The reasons that the publisher can be given; the first is the default. Its type holds it to what the server accepts. */
const REASONS: MoveReasons = {
  approved: ['operator'],
  rejected: [
    'operator',
    'fraud',
    'not_eligible',
    'geo_mismatch',
    'cap_exceeded',
    'click_expired',
    'advertiser_rejected',
  ],
  reversed: ['operator', 'fraud', 'not_eligible', 'geo_mismatch', 'advertiser_reversed'],
}

export type Decision = { to: MoveTo; ids: string[] }

/** `onClose` hears whether anything was done. */
export function Decide({ decision, onClose }: { decision: Decision | null; onClose: (isDone: boolean) => void }) {
  return decision === null ? null : <Deciding {...decision} onClose={onClose} />
}

function Deciding({ to, ids, onClose }: Decision & { onClose: (isDone: boolean) => void }) {
  const { state, results, error, move } = useMoves(to, ids)
  const [shown, setShown] = useState<MoveReason>('operator')
  const [reason, setReason] = useState('')
  const needsReason = to !== 'approved'
  const isBegun = results.length > 0
  return (
    <Modal
      opened
      size="lg"
      onClose={() => state !== 'moving' && onClose(isBegun)}
      title={`${VERBS[to]} ${countOf(ids.length)}`}
      closeButtonProps={{ 'aria-label': 'Close', disabled: state === 'moving' }}
    >
      {state === 'done' ? (
        <Stack>
          <Outcome results={results} to={to} />
          <Group justify="flex-end">
            <Button onClick={() => onClose(true)} data-autofocus>
              Close
            </Button>
          </Group>
        </Stack>
      ) : (
        <form
          onSubmit={(event) => {
            event.preventDefault()
            void move(shown, reason)
          }}
        >
          <Stack>
            <FormError
              error={
                error === null
                  ? null
                  : `${error.message}${isBegun ? ` ${formatCount(results.length)} of ${formatCount(ids.length)} are done. Continue with the rest when you are ready.` : ''}`
              }
            />
            <Text size="sm">{ABOUT[to]}</Text>
            {needsReason && (
              <Select
                label="Reason shown to the publisher"
                description="In the dashboard, the API and postbacks."
                allowDeselect={false}
                data={REASONS[to].map((value) => ({ value, label: STATUS_REASONS[value] }))}
                value={shown}
                disabled={state === 'moving'}
                onChange={(value) => value !== null && setShown(value)}
              />
            )}
            <Textarea
              label={needsReason ? 'Internal note' : 'Internal note (optional)'}
              description="Visible to operators only, with the conversion and in the audit log."
              required={needsReason}
              maxLength={500}
              autosize
              minRows={2}
              value={reason}
              disabled={state === 'moving'}
              onChange={(event) => setReason(event.currentTarget.value)}
              data-autofocus
            />
            {state === 'moving' && (
              <Progress
                value={(results.length / ids.length) * 100}
                animated
                aria-label={`${results.length} of ${ids.length} done`}
              />
            )}
            <Group justify="flex-end">
              <Button variant="default" disabled={state === 'moving'} onClick={() => onClose(isBegun)}>
                {isBegun ? 'Stop' : 'Cancel'}
              </Button>
              <Button
                type="submit"
                color={needsReason ? 'red' : 'green'}
                autoContrast
                loading={state === 'moving'}
                disabled={needsReason && reason.trim() === ''}
              >
                {isBegun ? 'Continue' : VERBS[to]}
              </Button>
            </Group>
          </Stack>
        </form>
      )}
    </Modal>
  )
}

const countOf = (count: number) => formatNoun(count, 'conversion')

function summarize(to: MoveTo, done: number, already: number, refused: number): string {
  const parts = [`${formatCount(done)} ${to}`]
  if (already > 0) parts.push(`${formatCount(already)} already ${to}`)
  if (refused > 0) parts.push(`${formatCount(refused)} refused`)
  return `${parts.join(', ')}.`
}

function Outcome({ results, to }: { results: MoveResult[]; to: MoveTo }) {
  const count = (outcome: MoveResult['outcome']) => results.filter((result) => result.outcome === outcome).length
  const refused = results.filter((result) => result.outcome === 'refused')
  return (
    <>
      <Alert color={refused.length === 0 ? 'green' : 'yellow'} role="status">
        {summarize(to, count('done'), count('already'), refused.length)}
      </Alert>
      <DataTable
        label="Result"
        isPlain
        minWidth={260}
        maxHeight={320}
        rows={[...refused, ...results.filter((result) => result.outcome !== 'refused')]}
        rowKey={({ conversion_id }) => conversion_id}
        columns={[
          { name: 'Conversion', isText: true, cell: ({ conversion_id }) => <ConversionId id={conversion_id} /> },
          { name: 'Result', cell: (result) => describeResult(result, to) },
        ]}
      />
    </>
  )
}

const ConversionId = ({ id }: { id: string }) => (
  <Text ff="monospace" size="xs">
    {id}
  </Text>
)

function describeResult({ outcome, problem }: MoveResult, to: MoveTo): string {
  if (outcome === 'refused') return `Refused. ${problem ?? ''}`
  return outcome === 'already' ? `already ${to}` : to
}
