// The app's own currency: what users are shown and credited.
import { Button, Group, NumberInput, Stack, Text, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useState } from 'react'
import { amountOf, checkPositive, readAmount } from '../../lib/amounts.ts'
import { patch, put } from '../../lib/api.ts'
import { formatReward, formatUsd } from '../../lib/format.ts'
import { isOperator, mayWrite, seesMoney, useMe } from '../../lib/me.ts'
import { useChange } from '../../lib/queries.ts'
import { useSubmit } from '../../lib/use-submit.ts'
import { FormError } from '../form-error.tsx'
import { Section } from '../section.tsx'
import type { AppData } from './data.ts'

const EXAMPLE_USD = 1.5
const STEPS = 10_000n // four decimals

/** As the server does it: rounded down to four decimals. */
function toReward(usd: number, rate: number): number {
  const [payout, units] = [BigInt(Math.round(usd * 10_000)), BigInt(Math.round(rate * 10_000))]
  return Number((payout * units) / STEPS) / 10_000
}

type RateExampleProps = { currency: string; rate: string; usd?: number }

export function RateExample({ currency, rate, usd = EXAMPLE_USD }: RateExampleProps) {
  const number = readAmount(rate) ?? 0
  if (number <= 0 || currency.trim() === '') return <>Enter how many units one US dollar is worth.</>
  return (
    <>
      A payout of {formatUsd(usd)} is <strong>{formatReward(toReward(usd, number), currency.trim())}</strong>.
    </>
  )
}

export function CurrencySection({ app }: { app: AppData }) {
  const me = useMe()
  const mayRename = mayWrite(me)
  const maySetRate = seesMoney(me) && (mayRename || !isOperator(me))
  const [usd, setUsd] = useState<number | string>(EXAMPLE_USD)
  const shown = { name: app.name, currency: app.currency, rate: String(app.rate) }
  const form = useForm({ initialValues: shown, validate: { rate: checkPositive } })
  const save = async ({ name, currency, rate }: typeof form.values) => {
    if (form.isDirty('name')) await patch(`/apps/${app.app_id}`, { name })
    if (form.isDirty('currency') || form.isDirty('rate'))
      await put(`/apps/${app.app_id}/currency`, { currency, rate: amountOf(rate) })
  }
  const change = useChange(save, {
    refresh: [`/apps/${app.app_id}`, `/publishers/${app.publisher_id}/apps`],
    done: 'Saved, effective immediately.',
    onError: () => {},
  })
  const { formProps, isSending, error } = useSubmit(
    form,
    async (values) => {
      await change.mutateAsync(values)
    },
    { follows: shown },
  )
  const { currency, rate } = form.values
  return (
    <Section
      title="Name, currency and rate"
      about="Users see rewards in your own currency. A conversion keeps the currency and rate it was created with, and reports add rewards up as they are, so compare payouts in US dollars after changing the currency."
    >
      <form {...formProps}>
        <Stack>
          <FormError error={error} />
          <Group align="flex-start">
            <TextInput label="Name" required readOnly={!mayRename} {...form.getInputProps('name')} />
            <TextInput label="Currency" required readOnly={!maySetRate} {...form.getInputProps('currency')} />
            <TextInput
              label="Units per US dollar"
              required
              inputMode="decimal"
              readOnly={!maySetRate}
              {...form.getInputProps('rate')}
            />
          </Group>
          <Group align="flex-end">
            <NumberInput
              label="Example payout"
              prefix="$"
              min={0}
              max={10_000}
              decimalScale={2}
              fixedDecimalScale
              w={140}
              value={usd}
              onChange={setUsd}
            />
            <Text pb={6} aria-live="polite">
              <RateExample currency={currency} rate={rate} usd={Number(usd)} />
            </Text>
          </Group>
          {(mayRename || maySetRate) && (
            <Group>
              <Button type="submit" loading={isSending} disabled={!form.isDirty()}>
                Save
              </Button>
            </Group>
          )}
        </Stack>
      </form>
    </Section>
  )
}
