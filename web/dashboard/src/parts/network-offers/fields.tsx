// The fields of an offer, as the server describes them.
import { Checkbox, Grid, MultiSelect, Select, Stack, Text, Textarea, TextInput } from '@mantine/core'
import type { UseFormReturnType } from '@mantine/form'
import { OFFER_FIELDS } from '../../lib/api-types.ts'
import { timeZone } from '../../lib/format.ts'
import { COUNTRIES } from '../../lib/countries.ts'
import { PictureInput } from './picture-input.tsx'
import { FIELD_NAMES, type FieldName, isProposed, labelOf, type OfferValues } from './values.ts'

type OfferPart = (typeof OFFER_FIELDS)[FieldName]['part']
type OfferFormType = UseFormReturnType<OfferValues>
type Field = {
  part: string
  input: string
  label: string
  hint?: string
  placeholder?: string
  required: boolean
  data?: readonly { value: string; label: string }[]
}

const WHOLE = 12
const HALF = { base: 12, sm: 6 }
const THIRD = { base: 12, xs: 6, lg: 4 }

type FieldsProps = {
  form: OfferFormType
  part: OfferPart
  /** The advertiser that proposes them. Undefined: an operator edits them. */
  proposer?: string | undefined
}

export function Fields({ form, part, proposer }: FieldsProps) {
  const isShown = (name: FieldName) => OFFER_FIELDS[name].part === part && (proposer === undefined || isProposed(name))
  return (
    <Grid gap="sm" align="end">
      {FIELD_NAMES.filter(isShown).map((name) => (
        <Grid.Col key={name} span={spanOf(name)}>
          <Input form={form} name={name} proposer={proposer} />
        </Grid.Col>
      ))}
    </Grid>
  )
}

function spanOf(name: FieldName) {
  const { part, input } = OFFER_FIELDS[name]
  const isWhole = input === 'lines' || input === 'countries' || name === 'name' || name === 'destination_url'
  return isWhole || (part === 'caps' && input === 'choice') ? WHOLE : part === 'caps' ? THIRD : HALF
}

function Input({ form, name, proposer }: Omit<FieldsProps, 'part'> & { name: FieldName }) {
  const { input, hint, placeholder, required, data = [] }: Field = OFFER_FIELDS[name]
  const label = labelOf(name, proposer === undefined ? 'operator' : 'advertiser')
  const more = { label, description: hint, placeholder, required, ...form.getInputProps(name) }
  if (input === 'lines') return <Textarea {...more} autosize minRows={2} maxRows={8} />
  if (input === 'flag')
    return <Checkbox label={label} description={hint} {...form.getInputProps(name, { type: 'checkbox' })} />
  if (input === 'choice') return <Select {...more} allowDeselect={false} data={[...data]} />
  if (input === 'choices') return <MultiSelect {...more} data={[...data]} />
  if (input === 'countries')
    return <MultiSelect {...more} searchable clearable limit={60} nothingFoundMessage="No such country" data={COUNTRIES} /> // prettier-ignore
  if (name === 'image_url')
    return <PictureInput {...more} advertiserId={proposer} onUpload={(path) => form.setFieldValue('image_url', path)} />
  if (input === 'number') return <TextInput {...more} placeholder={placeholder ?? 'no cap'} inputMode="decimal" />
  if (input === 'time') return <TextInput {...more} type="datetime-local" label={`${label} (${timeZone()})`} />
  return (
    <Stack gap="xs">
      <TextInput {...more} />
      {name === 'destination_url' && <MissingMacro url={form.values.destination_url} />}
    </Stack>
  )
}

const MissingMacro = ({ url }: { url: string }) =>
  url === '' || url.includes('{click_id}') ? null : (
    <Text size="sm" role="status">
      The URL has no {'{click_id}'} macro: conversions of this offer can’t be confirmed.
    </Text>
  )
