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
      <SourceField place={[...PLACE, 'list']} label="List of payouts by country" about="If the network pays by country: each group of countries becomes an offer of its own. In each goal: goals[].payouts." isList isBare lists={[offers]} hidesValues more="Another list" />
      {isJson(by) && (
        <Stack gap="sm" className="mapping-entry">
          <SourceField place={[...PLACE, 'countries']} label="Countries of a payout" lists={lists} isRequired options={['split']} hidesValues />
          <SourceField place={[...PLACE, 'exclude']} label="Excluded countries of a payout" lists={lists} options={['split']} hidesValues />
          <ConditionField place={[...PLACE, 'negated']} label="Payouts for all countries but theirs" about="What says so. Leave empty if there are none." lists={lists} />
          <Clear place={[...PLACE, 'negated']} label="No such payouts" />
          <LookupField place={[...PLACE, 'platforms']} label="Platforms of a payout" lists={lists} choices={choicesOf(PLATFORMS)} isSeveral />
          <SourceField place={[...PLACE, 'of']} label="What a payout is for" about="Such as the goal. Of several for the same, the one that names the country counts." lists={lists} options={['default']} hidesValues />
          <FieldValues place={PLACE} label="Payouts by country" />
          <Clear place={PLACE} label="It does not pay by country" />
          <Text size="xs" c="dimmed">
            Payout or goals above are read of the payouts of each group.
          </Text>
        </Stack>
      )}
    </Stack>
  )
} // prettier-ignore
