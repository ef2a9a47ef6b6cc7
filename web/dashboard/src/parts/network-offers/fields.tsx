// The fields of an offer, by subject.
import { Checkbox, Code, MultiSelect, Select, SimpleGrid, Stack, Text, Textarea, TextInput } from '@mantine/core'
import type { UseFormReturnType } from '@mantine/form'
import { timeZone } from '../../lib/format.ts'
import { COUNTRY_CHOICES } from './countries.ts'
import { CAPS, type OfferValues } from './values.ts'

type FieldsProps = { form: UseFormReturnType<OfferValues> }

export const CATEGORY_CHOICES = ['survey', 'app', 'game', 'video']
const TWO = { base: 1, sm: 2 }

export function LookFields({ form }: FieldsProps) {
  return (
    <Stack gap="sm">
      <TextInput label="Name" required {...form.getInputProps('name')} />
      <Textarea label="Description" autosize minRows={2} maxRows={8} {...form.getInputProps('description')} />
      <Textarea label="Requirements" autosize minRows={1} maxRows={6} {...form.getInputProps('requirements')} />
      <SimpleGrid cols={TWO}>
        <Select
          label="Category"
          required
          allowDeselect={false}
          data={CATEGORY_CHOICES}
          {...form.getInputProps('category')}
        />
        <Select
          label="Difficulty"
          allowDeselect={false}
          data={['easy', 'medium', 'hard']}
          {...form.getInputProps('difficulty')}
        />
        <TextInput label="Time estimate" placeholder="5-10 minutes" {...form.getInputProps('time_estimate')} />
        <TextInput label="Picture" placeholder="https://… or /pictures/…" {...form.getInputProps('image_url')} />
      </SimpleGrid>
      <Checkbox label="Payment required" {...form.getInputProps('payment_required', { type: 'checkbox' })} />
    </Stack>
  )
}

export function TargetFields({ form }: FieldsProps) {
  const zone = timeZone()
  return (
    <Stack gap="sm">
      <TextInput
        label="Destination"
        description={
          <>
            The URL users are sent to. <Code>{'{click_id}'}</Code> is required, or the advertiser can’t confirm
            conversions.
          </>
        }
        placeholder="https://advertiser.example/?click={click_id}"
        required
        {...form.getInputProps('destination_url')}
      />
      {form.values.destination_url !== '' && !form.values.destination_url.includes('{click_id}') && (
        <Text size="sm" role="status">
          The URL has no {'{click_id}'} macro: conversions of this offer can’t be confirmed.
        </Text>
      )}
      <MultiSelect
        label="Countries"
        description="Leave empty for all countries."
        searchable
        clearable
        limit={60}
        nothingFoundMessage="No such country"
        data={COUNTRY_CHOICES}
        {...form.getInputProps('countries')}
      />
      <SimpleGrid cols={TWO}>
        <MultiSelect label="Platforms" data={['web', 'android', 'ios']} {...form.getInputProps('platforms')} />
        <Select
          label="Conversion type"
          allowDeselect={false}
          data={[
            { value: 'cpa', label: 'Action (CPA)' },
            { value: 'cpi', label: 'Install (CPI)' },
            { value: 'cpe', label: 'Event (CPE)' },
            { value: 'cpl', label: 'Lead (CPL)' },
            { value: 'survey', label: 'Survey' },
          ]}
          {...form.getInputProps('conversion_type')}
        />
        <TextInput type="datetime-local" label={`Starts (${zone})`} {...form.getInputProps('starts_at')} />
        <TextInput type="datetime-local" label={`Ends (${zone})`} {...form.getInputProps('ends_at')} />
      </SimpleGrid>
    </Stack>
  )
}

export function TermFields({ form }: FieldsProps) {
  return (
    <Stack gap="sm">
      <SimpleGrid cols={TWO}>
        <TextInput
          label="Attribution window"
          description="Such as 90s, 15m, 24h or 30d."
          {...form.getInputProps('attribution_window')}
        />
        <TextInput
          label="Hold period"
          description="Before a confirmed conversion is approved: 0s, 24h, 7d."
          {...form.getInputProps('hold')}
        />
        <TextInput
          label="Reports expire after"
          description="Unless the advertiser confirms: 7d, 30d."
          {...form.getInputProps('confirm_within')}
        />
        <Checkbox
          mt="xl"
          label="Allow a new completion after a reversal"
          description="Never after a reversal for fraud."
          {...form.getInputProps('redo_after_reversal', { type: 'checkbox' })}
        />
      </SimpleGrid>
      <SimpleGrid cols={{ base: 1, xs: 2, lg: 3 }}>
        {CAPS.map(([name, label]) => (
          <TextInput key={name} label={label} placeholder="no cap" inputMode="decimal" {...form.getInputProps(name)} />
        ))}
      </SimpleGrid>
      <Select
        label="If a cap is reached between click and conversion"
        allowDeselect={false}
        data={[
          { value: 'honour', label: 'Pay the conversion' },
          { value: 'reject', label: 'Reject the conversion' },
        ]}
        {...form.getInputProps('over_cap')}
      />
    </Stack>
  )
}
