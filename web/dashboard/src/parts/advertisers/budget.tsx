// What an advertiser may spend over all its offers: set by operators, seen by both.
import { Alert, Button, Group, Progress, Stack, Text } from '@mantine/core'
import { useForm } from '@mantine/form'
import { amountOf, checkPositive } from '../../lib/amounts.ts'
import { patch } from '../../lib/api.ts'
import type { Schemas } from '../../lib/api-types.ts'
import { formatTime, formatUsd } from '../../lib/format.ts'
import { useChange, useGet } from '../../lib/queries.ts'
import { useSubmit } from '../../lib/use-submit.ts'
import { AmountInput } from '../amount-input.tsx'
import { DataTable } from '../data-table.tsx'
import { FormError } from '../form-error.tsx'
import { Loaded } from '../page.tsx'
import { Section } from '../section.tsx'

type Budget = Schemas['AdvertiserBudget']

export function BudgetSection({ advertiserId, mayChange }: { advertiserId: number; mayChange: boolean }) {
  const budget = useGet(`/advertisers/${advertiserId}/budget`)
  return (
    <Section
      title="Budget"
      about="What this advertiser may spend on all its offers. When a budget is used up, its offers close within seconds; conversions of earlier clicks are still paid. The advertiser and the operators get an email at 80% and when it is used up."
    >
      <Loaded query={budget}>
        {(data) => (
          <Stack>
            <Spent budget={data} />
            <BudgetForm advertiserId={advertiserId} budget={data} mayChange={mayChange} />
          </Stack>
        )}
      </Loaded>
    </Section>
  )
}

/** For the advertiser, where it has one. */
export function OwnBudget({ advertiserId }: { advertiserId: string }) {
  const { data } = useGet(`/advertisers/${advertiserId}/budget`)
  if (data === undefined || (data.daily ?? data.monthly ?? data.total) === null) return null
  return (
    <Section title="Budget" about="Set by the operator. You get an email at 80% and when it is used up.">
      <Spent budget={data} isOwn />
    </Section>
  )
}

function Spent({ budget, isOwn = false }: { budget: Budget; isOwn?: boolean }) {
  const { daily, monthly, total, is_closed, opens_at } = budget
  const rows = [
    { label: 'Today', of: daily },
    { label: 'This month', of: monthly },
    { label: total === null ? 'In total' : `Since ${formatTime(total.since)}`, of: total },
  ].flatMap(({ label, of }) => (of === null ? [] : [{ label, ...of }]))
  if (rows.length === 0) return null
  return (
    <Stack>
      {is_closed && (
        <Alert color="yellow">
          A budget is used up, and {isOwn ? 'all your offers' : 'all offers of this advertiser'} are closed.{' '}
          {opens_at === null
            ? `They open again when ${isOwn ? 'the operator raises the total' : 'you raise the total'}.`
            : `They open again on ${formatTime(opens_at)}.`}
        </Alert>
      )}
      <DataTable
        label="Budget"
        isPlain
        minWidth={420}
        rows={rows}
        rowKey={({ label }) => label}
        columns={[
          { name: 'Period', cell: ({ label }) => label },
          { name: 'Spent', isNumber: true, cell: ({ spent }) => formatUsd(spent) },
          { name: 'Budget', isNumber: true, cell: ({ amount }) => formatUsd(amount) },
          {
            name: 'Share',
            isText: true,
            cell: ({ label, spent, amount }) => (
              <Progress.Root size="lg">
                <Progress.Section
                  value={Math.min(100, (spent / amount) * 100)}
                  color={spent >= amount ? 'red' : 'blue'}
                  aria-label={`${label}: share of the budget`}
                />
              </Progress.Root>
            ),
          },
        ]}
      />
      <Text size="sm" c="dimmed">
        Days and months in UTC. Pending conversions count; rejected and reversed ones no longer count.
      </Text>
    </Stack>
  )
}

type FormProps = { advertiserId: number; budget: Budget; mayChange: boolean }
const check = (typed: string) => (typed.trim() === '' ? null : checkPositive(typed))
const given = (typed: string) => (typed.trim() === '' ? null : amountOf(typed))

function BudgetForm({ advertiserId, budget, mayChange }: FormProps) {
  const textOf = (of: { amount: number } | null) => (of === null ? '' : String(of.amount))
  const shown = { daily: textOf(budget.daily), monthly: textOf(budget.monthly), total: textOf(budget.total) }
  const form = useForm({ initialValues: shown, validate: { daily: check, monthly: check, total: check } })
  const path = `/advertisers/${advertiserId}/budget` as const
  const save = ({ daily, monthly, total }: typeof shown) =>
    patch(path, {
      ...(form.isDirty('daily') ? { daily: given(daily) } : {}),
      ...(form.isDirty('monthly') ? { monthly: given(monthly) } : {}),
      ...(form.isDirty('total') ? { total: given(total) } : {}),
    })
  const change = useChange(save, { refresh: ['/advertisers', '/offers'], done: 'Saved.', onError: () => {} })
  const { formProps, isSending, error } = useSubmit(
    form,
    async (values) => {
      await change.mutateAsync(values)
    },
    { follows: shown },
  )
  if (!mayChange)
    return shown.daily + shown.monthly + shown.total === '' ? <Text size="sm">No budget is set.</Text> : null
  return (
    <form {...formProps}>
      <Stack>
        <FormError error={error} />
        <Group align="flex-start">
          <AmountInput label="Per day" placeholder="no limit" {...form.getInputProps('daily')} />
          <AmountInput label="Per month" placeholder="no limit" {...form.getInputProps('monthly')} />
          <AmountInput
            label="In total"
            description={budget.total === null ? 'Counts from the time you save.' : undefined}
            inputWrapperOrder={['label', 'input', 'description', 'error']}
            placeholder="no limit"
            {...form.getInputProps('total')}
          />
        </Group>
        <Group>
          <Button type="submit" loading={isSending} disabled={!form.isDirty()}>
            Save
          </Button>
        </Group>
      </Stack>
    </form>
  )
}
