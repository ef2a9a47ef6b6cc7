// The settings of a locker, new or known.
import { Button, Group, MultiSelect, Radio, Select, Stack, Switch, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { checkAmount, checkPositive, checkWhole } from '../../lib/amounts.ts'
import { post, put } from '../../lib/api.ts'
import { mayWrite, useMe } from '../../lib/me.ts'
import type { BodyOf } from '../../lib/operations.ts'
import { queryClient, useChange } from '../../lib/queries.ts'
import { useSubmit } from '../../lib/use-submit.ts'
import { CATEGORIES, choicesOf, PLATFORMS } from '../../lib/words.ts'
import { AmountInput, WholeInput } from '../amount-input.tsx'
import { FormError } from '../form-error.tsx'
import { Section } from '../section.tsx'
import type { WallSettings } from '../wall/data.ts'
import type { Locker } from './data.ts'
import { below, type FieldsProps, LinkFields, PreviewCardFields } from './link-fields.tsx'
import { ContentFields } from './look-fields.tsx'
import { MOST_RADIUS } from './look-values.ts'
import { bodyOf, type LockerValues, minutesOf, MOST_MINUTES, newLocker, type Unit, valuesOf } from './values.ts'

const UNITS: { value: Unit; label: string }[] = [
  { value: 'minutes', label: 'minutes' },
  { value: 'hours', label: 'hours' },
  { value: 'days', label: 'days' },
]

const ifAny = (check: (text: string) => string | null) => (text: string) => (text.trim() === '' ? null : check(text))
const validate = {
  needed_offers: (text: string, { counts }: LockerValues) => (counts === 'offers' ? checkWhole(1, 20)(text) : null),
  needed_reward: (text: string, { counts }: LockerValues) => (counts === 'reward' ? checkPositive(text) : null),
  unlocked_minutes: (_text: string, values: LockerValues) => {
    const minutes = minutesOf(values)
    return minutes === null || minutes < 1 || minutes > MOST_MINUTES ? 'Enter a whole number, at most a year.' : null
  },
  min_payout: ifAny(checkAmount),
  max_payout: ifAny(checkAmount),
  look: {
    radius: (text: string, { has_look }: LockerValues) => (has_look ? checkWhole(0, MOST_RADIUS)(text) : null),
  },
  link: {
    click_limit: (text: string, { kind }: LockerValues) => (kind === 'link' ? ifAny(checkWhole(1, 1_000_000_000))(text) : null), // prettier-ignore
  },
}

type LockerFormProps = {
  appId: string
  currency: string
  /** What the locker does not set itself looks as the wall. */
  wall: WallSettings
  /** Null: a new one. */
  locker: Locker | null
  onCreate?: (locker: Locker) => void
}

export function LockerForm({ appId, currency, wall, locker, onCreate }: LockerFormProps) {
  const isReader = !mayWrite(useMe())
  const shown = locker === null ? newLocker(wall) : valuesOf(locker, wall)
  const form = useForm({ initialValues: shown, validate })
  const send = (body: BodyOf<'POST /apps/{app_id}/lockers'>) =>
    locker === null
      ? post(`/apps/${appId}/lockers`, body)
      : put(`/apps/${appId}/lockers/${String(locker.locker_id)}`, body)
  const save = useChange(send, {
    refresh: [`/apps/${appId}/lockers`],
    done: locker === null ? 'Locker created.' : 'Saved, effective immediately.',
    onError: () => void queryClient.invalidateQueries({ queryKey: [`/apps/${appId}/lockers/${locker?.locker_id}`] }), // changed meanwhile: shown
  })
  const { formProps, isSending, error } = useSubmit(
    form,
    async (values) => {
      const seen = locker === null ? {} : { seen_version: locker.version }
      const saved = await save.mutateAsync({ ...bodyOf(values, wall, locker), ...seen })
      onCreate?.(saved)
      return valuesOf(saved, wall)
    },
    { follows: shown },
  )
  const fields = { form, appId, isReader }
  return (
    <form {...formProps}>
      <Stack gap="lg">
        <FormError error={error} />
        {locker === null && <KindFields {...fields} />}
        <GeneralFields {...fields} />
        {form.values.kind === 'link' && <LinkFields {...fields} before={locker} />}
        <ContentFields {...fields} />
        <UnlockFields {...fields} currency={currency} />
        <OfferFields {...fields} />
        {form.values.kind === 'link' && <PreviewCardFields {...fields} />}
        {!isReader && (
          <Group>
            <Button type="submit" loading={isSending} disabled={locker !== null && !form.isDirty()}>
              {locker === null ? 'Create locker' : 'Save'}
            </Button>
          </Group>
        )}
      </Stack>
    </form>
  )
}

function KindFields({ form }: FieldsProps) {
  return (
    <Section title="Kind">
      <Radio.Group aria-label="Kind of locker" {...form.getInputProps('kind')}>
        <Stack gap="xs">
          <Radio value="content" label="Content locker" description="Unlocks part of your page." />
          <Radio value="link" label="Link locker" description="Unlocks a link that you share." />
        </Stack>
      </Radio.Group>
    </Section>
  )
}

function GeneralFields({ form, isReader }: FieldsProps) {
  return (
    <Section title="General">
      <TextInput
        label="Name"
        description="Not shown to visitors."
        required
        maxLength={80}
        readOnly={isReader}
        {...form.getInputProps('name')}
      />
      <Switch
        label="Enabled"
        description="A disabled locker shows and unlocks nothing. Earlier proofs stay valid for ten minutes."
        disabled={isReader}
        {...form.getInputProps('enabled', { type: 'checkbox' })}
      />
    </Section>
  )
}

function UnlockFields({ form, isReader, currency }: FieldsProps & { currency: string }) {
  const { counts } = form.values
  return (
    <Section title="Unlocking">
      <Radio.Group label="Visitors complete" {...form.getInputProps('counts')}>
        <Group mt="xs">
          <Radio value="offers" label="a number of offers" disabled={isReader} />
          <Radio value="reward" label={`offers worth a reward in ${currency}`} disabled={isReader} />
        </Group>
      </Radio.Group>
      <Group align="flex-start">
        {counts === 'offers' ? (
          <WholeInput
            label="Offers"
            description="Each offer counts once, whichever goal is completed."
            {...below}
            readOnly={isReader}
            {...form.getInputProps('needed_offers')}
          />
        ) : (
          <TextInput
            label={`Reward, ${currency}`}
            inputMode="decimal"
            readOnly={isReader}
            {...form.getInputProps('needed_reward')}
          />
        )}
        <WholeInput label="Stays unlocked for" readOnly={isReader} {...form.getInputProps('unlocked_minutes')} />
        <Select label="Unit" data={UNITS} allowDeselect={false} readOnly={isReader} {...form.getInputProps('unit')} />
      </Group>
      <Switch
        label="Count pending conversions"
        description="Visitors wait less, but a conversion may unlock the locker and be rejected later."
        disabled={isReader}
        {...form.getInputProps('counts_pending', { type: 'checkbox' })}
      />
    </Section>
  )
}

function OfferFields({ form, isReader }: FieldsProps) {
  return (
    <Section
      title="Offers"
      about="Which offers the locker shows. Empty fields match every offer. Payouts are the total of all goals of an offer."
    >
      <MultiSelect
        label="Categories"
        data={choicesOf(CATEGORIES)}
        placeholder={form.values.categories.length === 0 ? 'all' : ''}
        readOnly={isReader}
        {...form.getInputProps('categories')}
      />
      <MultiSelect
        label="Platforms"
        data={choicesOf(PLATFORMS)}
        placeholder={form.values.platforms.length === 0 ? 'all' : ''}
        readOnly={isReader}
        {...form.getInputProps('platforms')}
      />
      <Group align="flex-start">
        <AmountInput
          label="Lowest payout"
          placeholder="any"
          readOnly={isReader}
          {...form.getInputProps('min_payout')}
        />
        <AmountInput
          label="Highest payout"
          placeholder="any"
          readOnly={isReader}
          {...form.getInputProps('max_payout')}
        />
      </Group>
    </Section>
  )
}
