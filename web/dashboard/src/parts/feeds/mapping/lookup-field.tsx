// A field of ours that knows a few words only: theirs are looked up.
import { Button, Group, MultiSelect, Select, Stack, Text } from '@mantine/core'
import { useState } from 'react'
import { useGet } from '../../../lib/queries.ts'
import type { Lists } from './answer-paths.ts'
import { useMappingForm } from './form-context.tsx'
import { PairsInput } from './pairs-input.tsx'
import { SourceField } from './source-field.tsx'
import { getAt, isJson, type Json, type Place } from './sources.ts'

type Choice = { value: string; label: string }
type LookupFieldProps = { place: Place; label: string; about?: string; lists: Lists; choices: readonly Choice[]; isSeveral?: boolean; mayExclude?: boolean } // prettier-ignore

export function LookupField({ place, label, about, lists, choices, isSeveral = false, mayExclude = false }: LookupFieldProps) {
  const form = useMappingForm()
  const presets = useGet('/feed-presets').data?.presets ?? []
  const [isOpen, setOpen] = useState(false)
  const lookup = getAt(form.mapping, place)
  const given = isJson(lookup) ? lookup : {}
  const words = isJson(given['words']) ? given['words'] : {}
  const common = presets.map(({ mapping }) => getAt(mapping, [...place, 'words'])).find(isJson) ?? {}
  const known = new Set(Object.keys(words).map((word) => word.trim().toLowerCase()))
  const read = form.valuesOf(place).flatMap((one) => one.read)
  const unknown = [...new Set(read)].filter((word) => word !== '' && !known.has(word.trim().toLowerCase()))
  const setWords = (next: Json | undefined) => form.change([...place, 'words'], next ?? {})
  const pickOne = (value: string, onChange: (value: string) => void, name: string) =>
    isSeveral ? (
      <MultiSelect aria-label={name} size="xs" disabled={form.disabled} data={choices} value={value.split(' ').filter((one) => one !== '')} onChange={(next) => onChange(next.join(' '))} />
    ) : (
      <Select aria-label={name} size="xs" disabled={form.disabled} data={choices} value={value || null} onChange={(next) => onChange(next ?? '')} />
    )
  const values = `Mapped values (${Object.keys(words).length})`
  return (
    <Stack gap={4}>
      <SourceField place={place} label={label} lists={lists} options={['split']} initial={{ words: common }} isGoneWithoutPath={given['otherwise'] === undefined} {...(mayExclude ? { except: 'exclude' } : {})} {...(about === undefined ? {} : { about })} />
      {lookup !== undefined && (
        <Group gap={4}>
          <Button variant="subtle" size="compact-xs" aria-expanded={isOpen} aria-label={`${values} for ${label.toLowerCase()}`} onClick={() => setOpen(!isOpen)}>
            {values}
          </Button>
          {!form.disabled && Object.keys(words).length === 0 && Object.keys(common).length > 0 && (
            <Button variant="subtle" size="compact-xs" aria-label={`Add common values for ${label.toLowerCase()}`} onClick={() => setWords(common)}>
              Add common values
            </Button>
          )}
        </Group>
      )}
      {unknown.length > 0 && !form.disabled && (
        <Group gap={4}>
          <Text size="xs" c="dimmed">
            Not mapped:
          </Text>
          {unknown.map((word) => (
            <Button key={word} variant="default" size="compact-xs" aria-label={`Map value ${word}`} onClick={() => { setOpen(true); setWords({ ...words, [word]: choices[0]?.value ?? '' }) }}>
              {word}
            </Button>
          ))}
        </Group>
      )}
      {mayExclude && lookup !== undefined && (
        <SourceField place={[...place, 'exclude']} label={`Excluded ${label.toLowerCase()}`} about="Where the offer does not run. Uses the same mapping." lists={lists} isBare hidesValues />
      )}
      {isOpen && lookup !== undefined && (
        <Stack gap="xs" pl="sm">
          <PairsInput noun="value" names="Network’s value" values="Our value" value={words} initial={choices[0]?.value ?? ''} onChange={setWords} renderValue={({ name, value }, onChange) => pickOne(value, onChange, `Our value for ${name}`)} />
          <div>
            <Text size="xs">All other values</Text>
            {pickOne(String(given['otherwise'] ?? ''), (next) => form.change([...place, 'otherwise'], next === '' ? undefined : next), `All other values for ${label.toLowerCase()}`)}
          </div>
        </Stack>
      )}
    </Stack>
  )
} // prettier-ignore
