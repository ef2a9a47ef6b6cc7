// Every signal of fraud with what it means, and what is done about it.
import { Anchor, Button, Group, Stack, Text } from '@mantine/core'
import { modals } from '@mantine/modals'
import { type ReactNode, useState } from 'react'
import { Link } from 'wouter'
import { remove, withQuery } from '../../lib/api.ts'
import { formatCount } from '../../lib/format.ts'
import { useChange } from '../../lib/queries.ts'
import { SIGNALS } from '../../lib/words.ts'
import { type Column, DataTable } from '../data-table.tsx'
import { ACTION_NAMES, type Draft, type Fraud, type Rule, RuleForm } from './rule-form.tsx'

type Editing = { draft: Draft; isNew: boolean }

const FIRST: Draft = { signal: 'too_fast', offer_id: null, offer: null, threshold: null, action: 'flag' }

type RulesProps = { fraud: Fraud; mayChange: boolean; pager: ReactNode }

export function Rules({ fraud, mayChange, pager }: RulesProps) {
  const [editing, setEditing] = useState<Editing | null>(null)
  const drop = useChange(({ signal, offer_id }: Rule) => remove(`/fraud/rules/${signal}`, { offer_id }), {
    refresh: ['/fraud'],
    done: 'Rule removed.',
  })
  const ask = (rule: Rule) =>
    modals.openConfirmModal({
      withCloseButton: false,
      title: 'Remove this rule?',
      children: (
        <Text size="sm">
          {rule.offer_id === null
            ? 'Conversions of offers without their own rule will no longer be checked for this signal.'
            : `The rule for all offers will apply to ${rule.offer ?? 'this offer'} again.`}
        </Text>
      ),
      labels: { confirm: 'Remove rule', cancel: 'Cancel' },
      confirmProps: { color: 'red' },
      onConfirm: () => drop.mutate(rule),
    })
  return (
    <Stack>
      {mayChange && (
        <Group justify="flex-end">
          <Button onClick={() => setEditing({ draft: FIRST, isNew: true })}>Add rule</Button>
        </Group>
      )}
      <DataTable
        minWidth={860}
        rows={fraud.signals.flatMap((signal) => linesOf(fraud, signal))}
        columns={[...COLUMNS, mayChange && changeColumn(setEditing, ask)]}
        rowKey={({ signal, rule }) => `${signal.signal} ${rule?.offer_id ?? 0}`}
        pager={pager}
      />
      <RuleForm
        draft={editing?.draft ?? null}
        isNew={editing?.isNew ?? false}
        signals={fraud.signals}
        onClose={() => setEditing(null)}
      />
    </Stack>
  )
}

type Signal = Fraud['signals'][number]
/** A signal without a rule is off: it has a line all the same. */
type Line = { signal: Signal; rule: Rule | null; isFirst: boolean }

/** That of all offers first. */
function linesOf({ rules }: Fraud, signal: Signal): Line[] {
  const own = rules
    .filter((rule) => rule.signal === signal.signal)
    .toSorted((a, b) => (a.offer_id ?? 0) - (b.offer_id ?? 0))
  const lines = own.some((rule) => rule.offer_id === null) ? own : [null, ...own]
  return lines.map((rule, place) => ({ signal, rule, isFirst: place === 0 }))
}

const COLUMNS: Column<Line>[] = [
  {
    name: 'Signal',
    isText: true,
    cell: ({ signal, isFirst }) => (
      <>
        <Text fw={600} size="sm">
          {SIGNALS[signal.signal]}
        </Text>
        {isFirst && (
          <Text size="xs" c="dimmed">
            {signal.meaning}
          </Text>
        )}
      </>
    ),
  },
  {
    name: 'Offers',
    isText: true,
    cell: ({ rule }) => (rule?.offer_id ? `${rule.offer ?? 'Offer'} (ID ${rule.offer_id})` : 'all'),
  },
  {
    name: 'Condition',
    isText: true,
    cell: ({ rule, signal }) => (rule === null ? '–' : whenOf(rule, signal.threshold_of)),
  },
  { name: 'Action', isShort: true, cell: ({ rule }) => (rule === null ? 'off' : ACTION_NAMES[rule.action]) },
  { name: 'Last 30 days', isNumber: true, cell: ({ rule }) => (rule === null ? '–' : <Seen rule={rule} />) },
]

const changeColumn = (edit: (editing: Editing) => void, ask: (rule: Rule) => void): Column<Line> => ({
  name: 'Rule',
  cell: ({ signal: { signal }, rule }) =>
    rule === null ? (
      <Button
        size="xs"
        variant="default"
        aria-label={`Add a rule for: ${SIGNALS[signal]}`}
        onClick={() => edit({ draft: { ...FIRST, signal }, isNew: true })}
      >
        Add
      </Button>
    ) : (
      <Group gap={6} wrap="nowrap">
        <Button
          size="xs"
          variant="default"
          aria-label={`Edit the rule for: ${ruleName(rule)}`}
          onClick={() => edit({ draft: rule, isNew: false })}
        >
          Edit
        </Button>
        <Button
          size="xs"
          variant="default"
          aria-label={`Remove the rule for: ${ruleName(rule)}`}
          onClick={() => ask(rule)}
        >
          Remove
        </Button>
      </Group>
    ),
})

const ruleName = ({ signal, offer_id }: Rule) =>
  offer_id === null ? SIGNALS[signal] : `${SIGNALS[signal]}, offer ${offer_id}`

function whenOf({ signal, threshold }: Rule, thresholdOf: string | null): string {
  if (threshold === null || thresholdOf === null) return 'always'
  return `${signal === 'too_fast' ? 'fewer than' : 'more than'} ${formatCount(threshold)} ${thresholdOf}`
}

function Seen({ rule }: { rule: Rule }) {
  if (rule.seen === 0) return <>0</>
  return (
    <Anchor
      component={Link}
      href={withQuery('/network/conversions', { view: 'all', signal: rule.signal, offer_id: rule.offer_id })}
      size="sm"
    >
      {formatCount(rule.seen)}
    </Anchor>
  )
}
