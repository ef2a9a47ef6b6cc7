// What new users see first, and how much a user can do in a day.
import { Group, Select } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useDebouncedValue } from '@mantine/hooks'
import { useRef, useState } from 'react'
import { checkWhole, readWhole } from '../../lib/amounts.ts'
import { useGet } from '../../lib/queries.ts'
import { WholeInput } from '../amount-input.tsx'
import { Section } from '../section.tsx'
import { type SectionProps, SettingsForm, useMaySetRewards } from './settings-form.tsx'

const PAUSE_MS = 200
const SHOWN = 20
const MAX_LIMIT = 10_000

export function LimitsSection({ appId, settings }: SectionProps) {
  const isReader = !useMaySetRewards()
  const shown = {
    welcome_offer_id: String(settings.welcome_offer_id ?? ''),
    daily_limit: String(settings.daily_limit ?? ''),
  }
  const checkLimit = checkWhole(1, MAX_LIMIT)
  const form = useForm({
    initialValues: shown,
    validate: { daily_limit: (text) => (text.trim() === '' ? null : checkLimit(text)) },
  })
  return (
    <Section title="Welcome offer and daily limit">
      <SettingsForm
        appId={appId}
        form={form}
        shown={shown}
        bodyOf={({ welcome_offer_id, daily_limit }) => ({
          welcome_offer_id: readWhole(welcome_offer_id),
          daily_limit: readWhole(daily_limit),
        })}
      >
        <Group align="flex-start">
          <AppOfferPicker
            appId={appId}
            isReader={isReader}
            value={form.values.welcome_offer_id}
            onChange={(id) => form.setFieldValue('welcome_offer_id', id)}
            error={form.errors['welcome_offer_id']}
          />
          <WholeInput
            label="Daily limit for each user"
            description="Offers that a user can complete in a day (UTC). Leave empty for no limit."
            inputWrapperOrder={['label', 'input', 'description', 'error']}
            placeholder="no limit"
            readOnly={isReader}
            {...form.getInputProps('daily_limit')}
          />
        </Group>
      </SettingsForm>
    </Section>
  )
}

type PickerProps = {
  appId: string
  isReader: boolean
  /** The ID, or empty. */
  value: string
  onChange: (offerId: string) => void
  error: React.ReactNode
}

/** One of the offers that users of the app see. */
function AppOfferPicker({ appId, isReader, value, onChange, error }: PickerProps) {
  const [typed, setTyped] = useState('')
  const [search] = useDebouncedValue(typed, PAUSE_MS)
  const names = useRef(new Map<string, string>())
  const label = (id: string) => `${names.current.get(id) ?? 'Offer'} (${id})`
  const wanted = value !== '' && search === label(value) ? '' : search.trim()
  const found = useGet(`/apps/${appId}/offers`, {
    query: { limit: SHOWN, ...(wanted === '' ? {} : { search: wanted }) },
  })
  const chosen = useGet(value === '' ? null : `/apps/${appId}/offers/${value}`)
  const offers = found.data?.offers ?? []
  for (const { offer_id, name } of [...offers, ...(chosen.data === undefined ? [] : [chosen.data.offer])])
    names.current.set(String(offer_id), name)
  const ids = new Set([...(value === '' ? [] : [value]), ...offers.map(({ offer_id }) => String(offer_id))])
  return (
    <Select
      label="Welcome offer"
      name="welcome_offer_id"
      description="Shown first on the wall to users without a conversion."
      inputWrapperOrder={['label', 'input', 'description', 'error']}
      placeholder="none"
      searchable
      clearable={!isReader}
      readOnly={isReader}
      data={[...ids].map((id) => ({ value: id, label: label(id) }))}
      filter={({ options }) => options}
      nothingFoundMessage={found.isFetching || search !== typed ? 'Searching …' : 'No offer matches'}
      value={value === '' ? null : value}
      onChange={(id) => onChange(id ?? '')}
      searchValue={typed}
      onSearchChange={setTyped}
      error={error}
    />
  )
}
