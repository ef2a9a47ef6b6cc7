// What an operator sets for a feed.
import { Grid, MultiSelect, Select, Stack, TagsInput, TextInput } from '@mantine/core'
import type { UseFormReturnType } from '@mantine/form'
import { amountOf, checkAmount, checkWhole, wholeOf } from '../../lib/amounts.ts'
import type { Schemas } from '../../lib/api-types.ts'
import { COUNTRIES } from '../../lib/countries.ts'
import { CATEGORIES, choicesOf, PLATFORMS } from '../../lib/words.ts'
import { WholeInput } from '../amount-input.tsx'

type Settings = Schemas['FeedSettings']
/** As the fields have them. */
export type SettingsValues = Omit<Settings, 'hold_changes_percent' | 'min_payout' | 'min_margin' | 'max_margin' | 'share_percent' | 'max_gone_percent' | 'max_offers'> & {
  hold_changes_percent: string
  share_percent: string
  max_gone_percent: string
  max_offers: string
  min_payout: string
  min_margin: string
  max_margin: string
} // prettier-ignore

const TIMES = [
  { value: '5m', label: '5 minutes' },
  { value: '10m', label: '10 minutes' },
  { value: '15m', label: '15 minutes' },
  { value: '30m', label: '30 minutes' },
  { value: '1h', label: 'hour' },
  { value: '6h', label: '6 hours' },
  { value: '1d', label: 'day' },
]
export const valuesOf = (settings: Settings): SettingsValues => ({
  ...settings,
  share_percent: String(settings.share_percent),
  max_gone_percent: String(settings.max_gone_percent),
  max_offers: String(settings.max_offers),
  hold_changes_percent: settings.hold_changes_percent === null ? '' : String(settings.hold_changes_percent),
  min_payout: settings.min_payout ?? '',
  min_margin: settings.min_margin ?? '',
  max_margin: settings.max_margin ?? '',
})

/** An amount that is left empty is none. */
const orNone = (text: string) => (text.trim() === '' ? null : text.trim())

const MOST_OFFERS = 1_000_000
const checkPercent = (text: string) => (checkAmount(text) === null ? null : 'Enter a percentage such as 12.5.')

/** For the `validate` of a form: what cannot be read is neither sent as another number nor as none. */
export const checkSettings = {
  share_percent: checkPercent,
  max_gone_percent: checkPercent,
  hold_changes_percent: (text: string) => (orNone(text) === null ? null : checkPercent(text)),
  max_offers: checkWhole(1, MOST_OFFERS),
}

export const bodyOf = (values: SettingsValues): Settings => ({
  ...values,
  share_percent: amountOf(values.share_percent),
  max_gone_percent: amountOf(values.max_gone_percent),
  max_offers: wholeOf(values.max_offers),
  hold_changes_percent: orNone(values.hold_changes_percent) === null ? null : amountOf(values.hold_changes_percent),
  min_payout: orNone(values.min_payout),
  min_margin: orNone(values.min_margin),
  max_margin: orNone(values.max_margin),
})

export const NEW_SETTINGS: SettingsValues = {
  currency: 'USD',
  share_percent: '',
  every: '30m',
  max_gone_percent: '30',
  hold_changes_percent: '',
  max_offers: '100,000',
  min_payout: '',
  min_margin: '',
  max_margin: '',
  countries: [],
  platforms: [],
  categories: [],
  blocked_words: [],
}

type FieldsProps<V extends { settings: SettingsValues }> = { form: UseFormReturnType<V>; disabled?: boolean }

export function ShareField<V extends { settings: SettingsValues }>({ form, disabled = false }: FieldsProps<V>) {
  return (
    <TextInput
      label="Share for publishers, %"
      description="Share of what the network pays. You keep the rest."
      required
      inputMode="decimal"
      disabled={disabled}
      {...form.getInputProps('settings.share_percent')}
    />
  )
}

export function SettingsFields<V extends { settings: SettingsValues }>({ form, disabled = false }: FieldsProps<V>) {
  const props = (name: keyof SettingsValues) => ({ disabled, ...form.getInputProps(`settings.${name}`) })
  const times = TIMES.some(({ value }) => value === form.getValues().settings.every)
    ? TIMES
    : [...TIMES, { value: form.getValues().settings.every, label: form.getValues().settings.every }]
  return (
    <Stack>
      <Grid>
        <Grid.Col span={{ base: 12, sm: 6 }}>
          <ShareField form={form} disabled={disabled} />
        </Grid.Col>
        <Grid.Col span={{ base: 12, sm: 6 }}>
          <Select
            label="Fetch every"
            description="As often as the network allows."
            data={times}
            allowDeselect={false}
            {...props('every')}
          />
        </Grid.Col>
        <Grid.Col span={{ base: 12, sm: 6 }}>
          <TextInput
            label="Minimum margin, USD"
            description="Per goal, whatever the share. Leave empty for no minimum."
            {...props('min_margin')}
          />
        </Grid.Col>
        <Grid.Col span={{ base: 12, sm: 6 }}>
          <TextInput
            label="Maximum margin, USD"
            description="Per goal. Leave empty for no maximum."
            {...props('max_margin')}
          />
        </Grid.Col>
        <Grid.Col span={{ base: 12, sm: 6 }}>
          <TextInput
            label="Currency"
            description="For offers without a currency. Other currencies need an exchange rate."
            maxLength={3}
            {...props('currency')}
          />
        </Grid.Col>
        <Grid.Col span={{ base: 12, sm: 6 }}>
          <TextInput
            label="Lowest payout, USD"
            description="Offers that pay publishers less are skipped."
            {...props('min_payout')}
          />
        </Grid.Col>
        <Grid.Col span={{ base: 12, sm: 6 }}>
          <TextInput
            inputMode="decimal"
            label="Refuse if more offers are gone, %"
            description="A run that would pause more of the feed’s offers changes nothing."
            {...props('max_gone_percent')}
          />
        </Grid.Col>
        <Grid.Col span={{ base: 12, sm: 6 }}>
          <TextInput
            inputMode="decimal"
            label="Hold payout changes above, %"
            description="Held payouts await your approval. Leave empty to apply all."
            {...props('hold_changes_percent')}
          />
        </Grid.Col>
        <Grid.Col span={{ base: 12, sm: 6 }}>
          <MultiSelect
            label="Countries"
            description="Leave empty for all."
            data={COUNTRIES}
            searchable
            clearable
            limit={60}
            nothingFoundMessage="No such country"
            {...props('countries')}
          />
        </Grid.Col>
        <Grid.Col span={{ base: 12, sm: 6 }}>
          <MultiSelect
            label="Platforms"
            description="Leave empty for all."
            data={choicesOf(PLATFORMS)}
            clearable
            {...props('platforms')}
          />
        </Grid.Col>
        <Grid.Col span={{ base: 12, sm: 6 }}>
          <MultiSelect
            label="Categories"
            description="Leave empty for all."
            data={choicesOf(CATEGORIES)}
            clearable
            {...props('categories')}
          />
        </Grid.Col>
        <Grid.Col span={{ base: 12, sm: 6 }}>
          <WholeInput label="Maximum offers" description="Larger feeds are refused." {...props('max_offers')} />
        </Grid.Col>
      </Grid>
      <TagsInput
        label="Blocked words"
        description="Offers with one of these words in the name or description are skipped. Press Enter after each."
        {...props('blocked_words')}
      />
    </Stack>
  )
}
