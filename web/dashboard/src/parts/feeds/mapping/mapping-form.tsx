// The fields of a mapping, in the order in which one would fill them.
import { Fieldset, Stack, Text } from '@mantine/core'
import { CATEGORIES, choicesOf, PLATFORMS } from '../../../lib/words.ts'
import { ConditionField, Entries, PlainText } from './condition-field.tsx'
import { useMappingForm } from './form-context.tsx'
import { LinkFields } from './link-fields.tsx'
import { LookupField } from './lookup-field.tsx'
import { FieldValues, PathInput } from './path-input.tsx'
import { CapFields, Clear, OnePath, PaymentFields } from './payment-fields.tsx'
import { SourceField } from './source-field.tsx'
import { isJson } from './sources.ts'

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
  const { mapping, change, problemOf } = useMappingForm()
  const offers = typeof mapping['offers'] === 'string' ? mapping['offers'] : ''
  const lists = [offers]
  return (
    <Stack gap="lg">
      <Fieldset legend="Offers">
        <Stack gap="md">
          <PathInput id="offers" label="List of offers" about="Leave empty if the answer is the list itself." isList lists={[]} value={offers} error={problemOf(['offers'])} onChange={(path) => change(['offers'], path)} />
          <SourceField place={['id']} label="ID" lists={lists} isRequired />
          <SourceField place={['name']} label="Name" lists={lists} isRequired options={TEXT} />
        </Stack>
      </Fieldset>
      <Fieldset legend="Link">
        <LinkFields offers={offers} />
      </Fieldset>
      <Fieldset legend="Payment">
        <Stack gap="md">
          <PaymentFields offers={offers} />
        </Stack>
      </Fieldset>
      <Fieldset legend="Texts">
        <Stack gap="md">
          <SourceField place={['description']} label="Description" lists={lists} options={TEXT} />
          <SourceField place={['requirements']} label="Requirements" lists={lists} options={TEXT} />
          <SourceField place={['image']} label="Picture" about="Its URL, with https." lists={lists} options={['default']} />
          <SourceField place={['time_estimate']} label="Time estimate" lists={lists} options={['default']} />
          <SourceField place={['time_seconds']} label="Time in seconds" about="Where the network gives a number: shown in words." lists={lists} />
          <SourceField place={['language']} label="Language" lists={lists} options={['default']} />
        </Stack>
      </Fieldset>
      <Fieldset legend="Where it runs">
        <Stack gap="md">
          <SourceField place={['countries', 'include']} label="Countries" about="None, ALL and * mean everywhere." lists={lists} options={['split']} hidesValues />
          <SourceField place={['countries', 'exclude']} label="Excluded countries" lists={lists} options={['split']} hidesValues />
          <FieldValues place={['countries']} label="Countries" />
          <ByCountry offers={offers} />
          <LookupField place={['platforms']} label="Platforms" lists={lists} choices={choicesOf(PLATFORMS)} isSeveral />
          <SourceField place={['starts_at']} label="Starts" lists={lists} />
          <SourceField place={['ends_at']} label="Ends" lists={lists} />
        </Stack>
      </Fieldset>
      <Fieldset legend="What kind of offer">
        <Stack gap="md">
          <LookupField place={['category']} label="Category" about="An app where nothing is found." lists={lists} choices={choicesOf(CATEGORIES)} />
          <LookupField place={['difficulty']} label="Difficulty" lists={lists} choices={DIFFICULTIES} />
          <LookupField place={['conversion_type']} label="Conversion type" lists={lists} choices={CONVERSION_TYPES} />
          <SourceField place={['product']} label="Product" about="A link to the app in a store, or a name: of several offers for one product, one is listed." lists={lists} />
        </Stack>
      </Fieldset>
      <Fieldset legend="Caps">
        <CapFields offers={offers} />
      </Fieldset>
      <Fieldset legend="Left out">
        <Stack gap="md">
          <div>
            <Entries place={['skip']} noun="rule" entry={{ path: '', is: [], reason: 'it is paused there' }}>
              {(place, i) => (
                <>
                  <ConditionField place={place} label={`Left out if, ${i + 1}`} lists={lists} />
                  <PlainText place={[...place, 'reason']} label={`Reason ${i + 1}`} />
                </>
              )}
            </Entries>
            <FieldValues place={['skip']} label="Left out" />
          </div>
          <ConditionField place={['success']} label="A complete answer has" about="Any other answer counts as failed, and changes nothing." lists={[]} />
          <FieldValues place={['success']} label="A complete answer" />
          <Clear place={['success']} label="Any answer counts" />
        </Stack>
      </Fieldset>
    </Stack>
  )
} // prettier-ignore

function ByCountry({ offers }: { offers: string }) {
  const { mapping } = useMappingForm()
  const by = isJson(mapping['by_country']) ? mapping['by_country'] : null
  const lists = [offers, typeof by?.['list'] === 'string' ? by['list'] : '']
  return (
    <Stack gap="sm">
      <OnePath place={['by_country', 'list']} label="List of payouts by country" about="If the network pays by country: each group of countries becomes an offer of its own." isList lists={[offers]} />
      {by !== null && (
        <Stack gap="sm" className="mapping-entry">
          <SourceField place={['by_country', 'countries']} label="Countries of a payout" lists={lists} isRequired options={['split']} hidesValues />
          <SourceField place={['by_country', 'exclude']} label="Excluded countries of a payout" lists={lists} options={['split']} hidesValues />
          <FieldValues place={['by_country']} label="Payouts by country" />
          <Clear place={['by_country']} label="It does not pay by country" />
          <Text size="xs" c="dimmed">
            Payout or goals above are read of the payouts of each group.
          </Text>
        </Stack>
      )}
    </Stack>
  )
} // prettier-ignore
