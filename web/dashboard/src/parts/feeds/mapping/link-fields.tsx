// The link of an offer, and where the click ID goes in it.
import { Stack, Text } from '@mantine/core'
import { PlainText } from './condition-field.tsx'
import { useMappingForm } from './form-context.tsx'
import { PairsInput } from './pairs-input.tsx'
import { FieldValues } from './path-input.tsx'
import { SourceField } from './source-field.tsx'
import { isJson } from './sources.ts'

const CLICK_ID = '{click_id}'

export function LinkFields({ offers }: { offers: string }) {
  const { mapping, change, problemOf } = useMappingForm()
  const link = isJson(mapping['link']) ? mapping['link'] : {}
  const problem = problemOf(['link'])
  return (
    <Stack gap="sm">
      <SourceField place={['link']} label="Link" about="Offers without a link are skipped." lists={[offers]} isRequired initial={{}} hidesValues />
      <FieldValues place={['link']} label="Link" />
      {problem !== null && (
        <Text size="xs" c="var(--mantine-color-error)" role="status">
          {problem === 'Required.' ? problem : 'Put {click_id} into the link in one of these ways. Without it, conversions cannot be confirmed.'}
        </Text>
      )}
      <div>
        <Text size="sm" fw={500}>
          Set a parameter
        </Text>
        <PairsInput noun="parameter" names="Parameter" values="Parameter value" initial={CLICK_ID} value={link['set']} onChange={(set) => change(['link', 'set'], set)} />
      </div>
      <div>
        <Text size="sm" fw={500}>
          Replace a placeholder
        </Text>
        <PairsInput noun="placeholder" names="Placeholder, such as [USER_ID]" values="Replace with" initial={CLICK_ID} value={link['replace']} onChange={(replace) => change(['link', 'replace'], replace)} />
      </div>
      <PlainText place={['link', 'append']} label="Append to the link" about="For links that end with an empty parameter, such as s1=" />
    </Stack>
  )
} // prettier-ignore
