// The fields of a mapping, in the order in which one would fill them, in sections that open where something is wrong.
import { Accordion, Button, Group, Stack } from '@mantine/core'
import type { ReactNode } from 'react'
import { CATEGORIES, choicesOf, PLATFORMS } from '../../../lib/words.ts'
import { ConditionField, Entries, PlainText } from './condition-field.tsx'
import { ByCountryFields } from './country-fields.tsx'
import { useMappingForm } from './form-context.tsx'
import { LinkFields } from './link-fields.tsx'
import { LookupField } from './lookup-field.tsx'
import { FieldValues, PathInput } from './path-input.tsx'
import { CapFields, Clear, PaymentFields } from './payment-fields.tsx'
import { SourceField } from './source-field.tsx'
import { SECTIONS, type SectionName } from './open-sections.ts'
import { SectionHead } from './section-head.tsx'

const TEXT = ['html', 'join', 'default'] as const
const DIFFICULTIES = [
  { value: 'easy', label: 'Easy' },
  { value: 'medium', label: 'Medium' },
  { value: 'hard', label: 'Hard' },
]
const CONVERSION_TYPES = [
  { value: 'cpa', label: 'Action (CPA)' },
  { value: 'cpi', label: 'Install (CPI)' },
  { value: 'cpe', label: 'Event (CPE)' },
  { value: 'cpl', label: 'Lead (CPL)' },
  { value: 'survey', label: 'Survey' },
]

export function MappingFields() {
  const { mapping, open, setOpen } = useMappingForm()
  const offers = typeof mapping['offers'] === 'string' ? mapping['offers'] : ''
  const isAll = open.length === SECTIONS.length
  return (
    <Stack gap="xs">
      <Group justify="flex-end">
        <Button variant="subtle" size="compact-xs" onClick={() => setOpen(isAll ? [] : SECTIONS.map(({ name }) => name))}>
          {isAll ? 'Close all sections' : 'Open all sections'}
        </Button>
      </Group>
      {/* Without motion: a field that is wrong can take the focus as soon as its section opens. */}
      <Accordion multiple variant="contained" order={3} value={open} onChange={(next) => setOpen(next as SectionName[])} transitionDuration={0} keepMountedMode="display-none">
        {SECTIONS.map((section) => {
          const Fields = FIELDS[section.name]
          return (
            <Accordion.Item key={section.name} value={section.name}>
              <SectionHead section={section} />
              <Accordion.Panel>
                <Stack gap="md">
                  <Fields offers={offers} />
                </Stack>
              </Accordion.Panel>
            </Accordion.Item>
          )
        })}
      </Accordion>
    </Stack>
  )
} // prettier-ignore

type FieldsProps = { offers: string }

function OfferFields({ offers }: FieldsProps) {
  const { change, problemOf } = useMappingForm()
  const lists = [offers]
  return (
    <>
      <PathInput id="offers" label="List of offers" about="Leave empty if the response itself is the list." isList lists={[]} value={offers} error={problemOf(['offers'])} onChange={(path) => change(['offers'], path)} />
      <SourceField place={['id']} label="ID" lists={lists} isRequired />
      <SourceField place={['name']} label="Name" lists={lists} isRequired options={TEXT} />
    </>
  )
} // prettier-ignore

function TextFields({ offers }: FieldsProps) {
  const lists = [offers]
  return (
    <>
      <SourceField place={['description']} label="Description" lists={lists} options={TEXT} />
      <SourceField place={['requirements']} label="Requirements" lists={lists} options={TEXT} />
      <SourceField place={['image']} label="Picture" about="An https URL." lists={lists} options={['default']} />
      <SourceField place={['time_estimate']} label="Time estimate" lists={lists} options={['default']} />
      <SourceField place={['time_seconds']} label="Time in seconds" about="If the network sends a number of seconds. Shown as text." lists={lists} />
      <SourceField place={['language']} label="Language" lists={lists} options={['default']} />
    </>
  )
} // prettier-ignore

function PlaceFields({ offers }: FieldsProps) {
  const lists = [offers]
  return (
    <>
      <SourceField place={['countries', 'include']} label="Countries" about="None, ALL and * mean everywhere." lists={lists} options={['split']} hidesValues />
      <SourceField place={['countries', 'exclude']} label="Excluded countries" lists={lists} options={['split']} hidesValues />
      <FieldValues place={['countries']} label="Countries" />
      <ByCountryFields offers={offers} />
      <LookupField place={['platforms']} label="Platforms" lists={lists} choices={choicesOf(PLATFORMS)} isSeveral mayExclude />
      <SourceField place={['starts_at']} label="Starts" lists={lists} />
      <SourceField place={['ends_at']} label="Ends" lists={lists} />
    </>
  )
} // prettier-ignore

function KindFields({ offers }: FieldsProps) {
  const lists = [offers]
  return (
    <>
      <LookupField place={['category']} label="Category" about="App if nothing matches." lists={lists} choices={choicesOf(CATEGORIES)} />
      <LookupField place={['difficulty']} label="Difficulty" lists={lists} choices={DIFFICULTIES} />
      <LookupField place={['conversion_type']} label="Conversion type" lists={lists} choices={CONVERSION_TYPES} />
      <SourceField place={['product']} label="Product" about="An app store link or a name. If several offers are for the same product, only one is listed." lists={lists} />
    </>
  )
} // prettier-ignore

function LeftOutFields({ offers }: FieldsProps) {
  return (
    <>
      <div>
        <Entries place={['skip']} noun="rule" entry={{ path: '', is: [], reason: 'it is paused there' }}>
          {(place, i) => (
            <>
              <ConditionField place={place} label={`Skip condition ${i + 1}`} lists={[offers]} />
              <PlainText place={[...place, 'reason']} label={`Reason ${i + 1}`} />
            </>
          )}
        </Entries>
        <FieldValues place={['skip']} label="Skipped" />
      </div>
      <ConditionField place={['success']} label="A successful response has" about="Any other response counts as failed and changes nothing." lists={[]} />
      <FieldValues place={['success']} label="Successful response" />
      <Clear place={['success']} label="Accept any response" />
    </>
  )
} // prettier-ignore

const FIELDS: Record<SectionName, (props: FieldsProps) => ReactNode> = {
  offers: OfferFields,
  link: LinkFields,
  payment: PaymentFields,
  texts: TextFields,
  where: PlaceFields,
  kind: KindFields,
  caps: CapFields,
  left_out: LeftOutFields,
}
