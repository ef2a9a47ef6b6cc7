// One path of a mapping: typed, chosen of those that the answer has, or filled by a click in the answer.
import { Autocomplete, Box, Code, Text } from '@mantine/core'
import { type ReactNode, useEffect } from 'react'
import type { Lists } from './answer-paths.ts'
import { type FieldValue, useMappingForm } from './form-context.tsx'
import { type Place, placeText } from './sources.ts'

const MOST_CHOICES = 40

type PathInputProps = {
  /** Unique among the inputs of the form. */
  id: string
  label: string
  value: string
  onChange: (path: string) => void
  lists: Lists
  isList?: boolean
  isRequired?: boolean
  about?: ReactNode
  error?: ReactNode
}

export function PathInput({ id, label, value, onChange, lists, isList = false, isRequired = false, about, error }: PathInputProps) {
  const { disabled, target, aimAt, listen, pathsIn } = useMappingForm()
  const isTarget = target.id === id
  useEffect(() => {
    if (isTarget) listen(onChange)
  })
  const found = pathsIn(lists, isList)
  const values = new Map(found.map((one) => [one.path, one.value]))
  return (
    <Autocomplete
      label={label}
      description={about}
      withAsterisk={isRequired}
      error={error}
      data-path={`mapping.${id}`}
      data-target={(isTarget && !disabled) || undefined}
      classNames={{ input: 'path-input' }}
      autoComplete="off"
      spellCheck={false}
      disabled={disabled}
      value={value}
      onChange={onChange}
      onFocus={() => aimAt({ id, label, lists, isList })}
      data={found.map(({ path }) => path).filter((path) => path !== '')}
      limit={MOST_CHOICES}
      filter={({ options, search }) => options.filter((option) => 'value' in option && matches(option.value, values, search, value))} // prettier-ignore
      renderOption={({ option }) => (
        <Box style={{ minWidth: 0 }}>
          <Text size="sm" ff="monospace" style={{ overflowWrap: 'anywhere' }}>
            {option.value}
          </Text>
          <Text size="xs" c="dimmed" truncate>
            {values.get(option.value) || 'empty'}
          </Text>
        </Box>
      )}
    />
  )
} // prettier-ignore

/** By path or value; a path that is there already hides none of the others. */
function matches(path: string, values: Map<string, string>, search: string, value: string): boolean {
  if (search === '' || (search === value && values.has(value))) return true
  const wanted = search.trim().toLowerCase()
  return path.toLowerCase().includes(wanted) || (values.get(path) ?? '').toLowerCase().includes(wanted)
}

/** What a field has of the first offers, and what becomes of it. */
export function FieldValues({ place, label }: { place: Place; label: string }) {
  const values = useMappingForm().valuesOf(place)
  if (values.length === 0) return null
  return (
    <Box component="ol" className="field-values" aria-label={`${label} of the first offers`} data-values={placeText(place)}>
      {values.map((value, i) => (
        <li key={i}>
          <Value value={value} />
        </li>
      ))}
    </Box>
  ) // prettier-ignore
}

function Value({ value: { read, gives, problem } }: { value: FieldValue }) {
  const raw = read.join(', ')
  return (
    <>
      {raw === '' ? <Text span size="xs" c="dimmed">no value</Text> : <Code>{raw}</Code>}
      {problem !== null && <Text span size="xs" c="var(--mantine-color-error)"> → skipped: {problem}</Text>}
      {problem === null && gives !== '' && gives !== raw && <Text span size="xs"> → {gives}</Text>}
    </>
  )
} // prettier-ignore
