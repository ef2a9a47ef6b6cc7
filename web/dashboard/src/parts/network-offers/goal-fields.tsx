import {
  ActionIcon,
  Alert,
  Button,
  Checkbox,
  Fieldset,
  Group,
  SimpleGrid,
  Stack,
  Text,
  TextInput,
  type TextInputProps,
} from '@mantine/core'
import type { UseFormReturnType } from '@mantine/form'
import { IconArrowUp, IconPlus, IconTrash } from '@tabler/icons-react'
import { formatShare, formatUsd } from '../../lib/format.ts'
import { isAbove, newGoal, type OfferValues, payoutOf, revenueOf } from './values.ts'

const MAX_GOALS = 50

/** What is to be done for an offer, and what each part of it is worth. An advertiser says what it pays. */
export function GoalFields({ form, isProposal }: { form: UseFormReturnType<OfferValues>; isProposal: boolean }) {
  const { goals } = form.values
  return (
    <Stack gap="sm">
      {form.errors['goals'] !== undefined && (
        <Text c="var(--mantine-color-error)" size="sm" role="alert">
          {form.errors['goals']}
        </Text>
      )}
      {goals.map((_, i) => (
        <Goal key={i} form={form} place={i} isOnly={goals.length === 1} isProposal={isProposal} />
      ))}
      <Group justify="space-between">
        <Button
          variant="default"
          leftSection={<IconPlus size={16} />}
          disabled={goals.length >= MAX_GOALS}
          onClick={() => form.insertListItem('goals', newGoal())}
        >
          Add goal
        </Button>
        {isProposal ? (
          <Text size="sm" role="status">
            You pay {formatUsd(revenueOf(goals))} in total
          </Text>
        ) : (
          <Totals payout={payoutOf(goals)} revenue={revenueOf(goals)} />
        )}
      </Group>
    </Stack>
  )
}

function Totals({ payout, revenue }: { payout: number; revenue: number }) {
  const margin = revenue === 0 ? '' : ` · margin ${formatShare((revenue - payout) / revenue)}`
  return (
    <Text size="sm" role="status">
      Total: payout {formatUsd(payout)} · revenue {formatUsd(revenue)}
      {margin}
    </Text>
  )
}

/** Below its input, so that inputs beside each other stay in line. */
const note = (description: string) =>
  ({ description, inputWrapperOrder: ['label', 'input', 'description', 'error'] }) satisfies TextInputProps
const ofAmount = note('Of the amount')

type GoalProps = { form: UseFormReturnType<OfferValues>; place: number; isOnly: boolean; isProposal: boolean }

function Goal({ form, place, isOnly, isProposal }: GoalProps) {
  const field = (name: string) => form.getInputProps(`goals.${place}.${name}`)
  const flag = (name: string) => form.getInputProps(`goals.${place}.${name}`, { type: 'checkbox' })
  return (
    <Fieldset legend={`Goal ${place + 1}`}>
      <Stack gap="sm">
        <SimpleGrid cols={{ base: 1, sm: 3 }}>
          <TextInput label="Goal name" required {...field('name')} />
          <TextInput label="Goal description" {...field('description')} />
          <TextInput
            label="Goal external ID"
            {...note(isProposal ? 'Your own ID for this goal' : 'The advertiser’s own ID for this goal')}
            {...field('external_id')}
          />
        </SimpleGrid>
        {!isProposal && isAbove(form.values.goals[place]) && (
          <Alert color="yellow" role="status">
            The payout is above the revenue: you lose money on every conversion.
          </Alert>
        )}
        <SimpleGrid cols={{ base: 1, xs: 2, lg: 4 }}>
          {isProposal ? (
            <>
              <TextInput label="You pay, USD" inputMode="decimal" {...field('revenue')} />
              <TextInput label="You pay, %" inputMode="decimal" {...ofAmount} {...field('revenue_percent')} />
            </>
          ) : (
            <>
              <TextInput label="Payout, USD" inputMode="decimal" required {...field('payout')} />
              <TextInput
                label="Revenue, USD"
                inputMode="decimal"
                {...note('Leave empty to use the payout')}
                {...field('revenue')}
              />
              <TextInput label="Payout, %" inputMode="decimal" {...ofAmount} {...field('payout_percent')} />
              <TextInput label="Revenue, %" inputMode="decimal" {...ofAmount} {...field('revenue_percent')} />
            </>
          )}
        </SimpleGrid>
        <Group justify="space-between">
          <Group>
            <Checkbox label="Optional" {...flag('is_optional')} />
            <Checkbox label="Repeatable" {...flag('is_repeatable')} />
          </Group>
          <Group gap={4}>
            {place > 0 && (
              <ActionIcon
                variant="subtle"
                color="gray"
                aria-label={`Move goal ${place + 1} up`}
                onClick={() => form.reorderListItem('goals', { from: place, to: place - 1 })}
              >
                <IconArrowUp size={16} />
              </ActionIcon>
            )}
            {!isOnly && (
              <ActionIcon
                variant="subtle"
                color="red"
                aria-label={`Remove goal ${place + 1}`}
                onClick={() => form.removeListItem('goals', place)}
              >
                <IconTrash size={16} />
              </ActionIcon>
            )}
          </Group>
        </Group>
      </Stack>
    </Fieldset>
  )
}
