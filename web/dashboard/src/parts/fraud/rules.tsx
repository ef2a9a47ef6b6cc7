// Every signal of fraud with what it means, and what is done about it.
import { Anchor, Button, Group, Paper, Stack, Table, Text } from '@mantine/core'
import { modals } from '@mantine/modals'
import { useState } from 'react'
import { Link } from 'wouter'
import { query, remove } from '../../lib/api.ts'
import { formatCount } from '../../lib/format.ts'
import { useChange } from '../../lib/queries.ts'
import { ACTION_NAMES, type Draft, type Fraud, type Rule, RuleForm } from './rule-form.tsx'
import { SIGNAL_NAMES } from './signals.tsx'

type Editing = { draft: Draft; isNew: boolean }

const FIRST: Draft = { signal: 'too_fast', offer_id: null, offer: null, threshold: null, action: 'flag' }

export function Rules({ fraud, mayChange }: { fraud: Fraud; mayChange: boolean }) {
  const [editing, setEditing] = useState<Editing | null>(null)
  const drop = useChange(({ signal, offer_id }: Rule) => remove(`/fraud/rules/${signal}${query({ offer_id })}`), {
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
      <Paper p={0}>
        <Table.ScrollContainer minWidth={860}>
          <Table>
            <Table.Thead>
              <Table.Tr>
                <Table.Th>Signal</Table.Th>
                <Table.Th>Offers</Table.Th>
                <Table.Th>Condition</Table.Th>
                <Table.Th>Action</Table.Th>
                <Table.Th ta="right">Last 30 days</Table.Th>
                {mayChange && <Table.Th>Actions</Table.Th>}
              </Table.Tr>
            </Table.Thead>
            <Table.Tbody>
              {fraud.signals.map((signal) => (
                <SignalRows
                  key={signal.signal}
                  signal={signal}
                  rules={rulesOf(fraud, signal.signal)}
                  {...(mayChange ? { edit: setEditing, ask } : {})}
                />
              ))}
            </Table.Tbody>
          </Table>
        </Table.ScrollContainer>
      </Paper>
      <RuleForm
        draft={editing?.draft ?? null}
        isNew={editing?.isNew ?? false}
        signals={fraud.signals}
        onClose={() => setEditing(null)}
      />
    </Stack>
  )
}

/** That of all offers first. */
const rulesOf = ({ rules }: Fraud, signal: string) =>
  rules.filter((rule) => rule.signal === signal).toSorted((a, b) => (a.offer_id ?? 0) - (b.offer_id ?? 0))

type RowsProps = {
  signal: Fraud['signals'][number]
  rules: Rule[]
  edit?: (editing: Editing) => void
  ask?: (rule: Rule) => void
}

function SignalRows({ signal, rules, edit, ask }: RowsProps) {
  const name = SIGNAL_NAMES[signal.signal] ?? signal.signal
  const lines: (Rule | null)[] = rules.some((rule) => rule.offer_id === null) ? rules : [null, ...rules]
  return lines.map((rule, i) => (
    <Table.Tr key={rule?.offer_id ?? 0}>
      {i === 0 && (
        <Table.Td rowSpan={lines.length} maw={260} style={{ verticalAlign: 'top' }}>
          <Text fw={600} size="sm">
            {name}
          </Text>
          <Text size="xs" c="dimmed">
            {signal.meaning}
          </Text>
        </Table.Td>
      )}
      <Table.Td>{rule?.offer_id ? `${rule.offer ?? 'Offer'} (ID ${rule.offer_id})` : 'all offers'}</Table.Td>
      <Table.Td>{rule === null ? '–' : whenOf(rule, signal.threshold_of)}</Table.Td>
      <Table.Td>{rule === null ? 'off' : ACTION_NAMES[rule.action]}</Table.Td>
      <Table.Td ta="right">{rule === null ? '–' : <Seen rule={rule} />}</Table.Td>
      {edit !== undefined && (
        <Table.Td>
          {rule === null ? (
            <Button
              size="xs"
              variant="default"
              aria-label={`Add a rule for: ${name}`}
              onClick={() => edit({ draft: { ...FIRST, signal: signal.signal }, isNew: true })}
            >
              Add
            </Button>
          ) : (
            <Group gap={6} wrap="nowrap">
              <Button
                size="xs"
                variant="default"
                aria-label={`Edit the rule for: ${labelOf(name, rule)}`}
                onClick={() => edit({ draft: rule, isNew: false })}
              >
                Edit
              </Button>
              <Button
                size="xs"
                variant="default"
                aria-label={`Remove the rule for: ${labelOf(name, rule)}`}
                onClick={() => ask?.(rule)}
              >
                Remove
              </Button>
            </Group>
          )}
        </Table.Td>
      )}
    </Table.Tr>
  ))
}

const labelOf = (name: string, { offer_id }: Rule) => (offer_id === null ? name : `${name}, offer ${offer_id}`)

function whenOf({ signal, threshold }: Rule, thresholdOf: string | null): string {
  if (threshold === null || thresholdOf === null) return 'always'
  return `${signal === 'too_fast' ? 'fewer than' : 'more than'} ${formatCount(threshold)} ${thresholdOf}`
}

function Seen({ rule }: { rule: Rule }) {
  if (rule.seen === 0) return <>0</>
  const search = query({ view: 'all', signal: rule.signal, offer_id: rule.offer_id })
  return (
    <Anchor component={Link} href={`/network/conversions${search}`} size="sm">
      {formatCount(rule.seen)}
    </Anchor>
  )
}
