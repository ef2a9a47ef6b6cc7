// Payouts that differ by country: a list with rows for some countries each.
import { Stack, Text } from '@mantine/core'
import { choicesOf, PLATFORMS } from '../../../lib/words.ts'
import { ConditionField } from './condition-field.tsx'
import { useMappingForm } from './form-context.tsx'
import { LookupField } from './lookup-field.tsx'
import { FieldValues } from './path-input.tsx'
import { Clear } from './payment-fields.tsx'
import { SourceField } from './source-field.tsx'
import { getAt, isJson, type Place, textsOf } from './sources.ts'

const PLACE: Place = ['by_country']

export function ByCountryFields({ offers }: { offers: string }) {
  const { mapping } = useMappingForm()
  const by = mapping['by_country']
  const lists = [offers, textsOf(getAt(by, ['list']))[0] ?? '']
  return (
    <Stack gap="sm">
      <SourceField place={[...PLACE, 'list']} label="List of payouts by country" about="For networks that pay by country: each group of countries becomes a separate offer. For payouts inside each goal: goals[].payouts." isList isBare lists={[offers]} hidesValues more="Add list" />
      {isJson(by) && (
        <Stack gap="sm" className="mapping-entry">
          <SourceField place={[...PLACE, 'countries']} label="Payout countries" lists={lists} isRequired options={['split']} hidesValues />
          <SourceField place={[...PLACE, 'exclude']} label="Excluded payout countries" lists={lists} options={['split']} hidesValues />
          <ConditionField place={[...PLACE, 'negated']} label="Payouts whose countries are exclusions" about="How to recognize payouts for all countries except those listed. Leave empty if there are none." lists={lists} />
          <Clear place={[...PLACE, 'negated']} label="Remove this condition" />
          <LookupField place={[...PLACE, 'platforms']} label="Payout platforms" lists={lists} choices={choicesOf(PLATFORMS)} isSeveral />
          <SourceField place={[...PLACE, 'of']} label="Payout goal" about="What the payout is for. If several payouts are for the same goal, the one that names the country applies." lists={lists} options={['default']} hidesValues />
          <FieldValues place={PLACE} label="Payouts by country" />
          <Clear place={PLACE} label="Remove payouts by country" />
          <Text size="xs" c="dimmed">
            Payout and goals above are then read from the payouts of each group.
          </Text>
        </Stack>
      )}
    </Stack>
  )
} // prettier-ignore
