// A condition: a path, and what stands there.
import { ActionIcon, Button, Group, Select, Stack, TagsInput, TextInput } from '@mantine/core'
import { IconPlus, IconTrash } from '@tabler/icons-react'
import type { ReactNode } from 'react'
import type { Lists } from './answer-paths.ts'
import { useMappingForm } from './form-context.tsx'
import { PathInput } from './path-input.tsx'
import { getAt, isJson, type Json, type Place, placeText, textsOf } from './sources.ts'

const KINDS = [
  { value: 'is', label: 'is one of' },
  { value: 'not', label: 'is set, and not one of' },
  { value: 'filled', label: 'has a value' },
  { value: 'empty', label: 'is empty, 0 or missing' },
]

const kindOf = ({ is, not, empty }: Json) => (is !== undefined ? 'is' : not !== undefined ? 'not' : empty === true ? 'empty' : 'filled') // prettier-ignore

const short = (words: string[]) => (words.length === 1 ? words[0] : words)

type ConditionFieldProps = { place: Place; label: string; about?: string; lists: Lists }

export function ConditionField({ place, label, about, lists }: ConditionFieldProps) {
  const { mapping, change, problemOf, disabled } = useMappingForm()
  const value = getAt(mapping, place)
  const condition = isJson(value) ? value : {}
  const kind = kindOf(condition)
  const write = (next: { path?: string; kind?: string; words?: string[] }) => {
    const { is: _is, not: _not, empty: _empty, path = '', ...rest } = condition
    const words = next.words ?? textsOf(condition[kind])
    const to = next.kind ?? (value === undefined ? 'filled' : kind)
    const says = to === 'filled' ? { empty: false } : to === 'empty' ? { empty: true } : { [to]: short(words) }
    change(place, { ...rest, path: next.path ?? path, ...says })
  }
  return (
    <Stack gap={4}>
      <PathInput id={placeText(place)} label={label} about={about} lists={lists} value={String(condition['path'] ?? '')} error={problemOf(place, true)} onChange={(path) => write({ path })} />
      {value !== undefined && (
        <Group gap="xs" align="flex-start">
          <Select aria-label={`Condition: ${label}`} size="xs" w={170} allowDeselect={false} disabled={disabled} data={KINDS} value={kind} onChange={(next) => next !== null && write({ kind: next })} />
          {(kind === 'is' || kind === 'not') && (
            <TagsInput aria-label={`Values: ${label}`} size="xs" style={{ flex: 1, minWidth: 120 }} disabled={disabled} placeholder="Press Enter after each" value={textsOf(condition[kind])} onChange={(words) => write({ words })} />
          )}
        </Group>
      )}
    </Stack>
  )
} // prettier-ignore

type EntriesProps = { place: Place; noun: string; entry: Json; children: (place: Place, at: number) => ReactNode }

/** Entries of a list of the mapping, each with its fields. */
export function Entries({ place, noun, entry, children }: EntriesProps) {
  const { mapping, change, disabled } = useMappingForm()
  const value = getAt(mapping, place)
  const entries = Array.isArray(value) ? value : []
  const remove = (at: number) => (entries.length === 1 ? change(place, undefined) : change([...place, at], undefined))
  return (
    <Stack gap="sm" align="stretch">
      {entries.map((_, i) => (
        <Group key={i} gap="xs" align="flex-start" wrap="nowrap" className="mapping-entry">
          <Stack gap={6} style={{ flex: 1, minWidth: 0 }}>
            {children([...place, i], i)}
          </Stack>
          {!disabled && (
            <ActionIcon variant="subtle" color="red" aria-label={`Remove ${noun} ${i + 1}`} onClick={() => remove(i)}>
              <IconTrash size={16} />
            </ActionIcon>
          )}
        </Group>
      ))}
      {!disabled && (
        <Button variant="default" size="xs" style={{ alignSelf: 'flex-start' }} leftSection={<IconPlus size={14} />} onClick={() => change([...place, entries.length], entry)}>
          Add {noun}
        </Button>
      )}
    </Stack>
  )
} // prettier-ignore

/** A text of a mapping that is no path. */
export function PlainText({ place, label, about }: { place: Place; label: string; about?: string }) {
  const { mapping, change, problemOf, disabled } = useMappingForm()
  return (
    <TextInput label={label} description={about} size="sm" data-path={`mapping.${placeText(place)}`} disabled={disabled} error={problemOf(place)} value={String(getAt(mapping, place) ?? '')} onChange={(event) => change(place, event.currentTarget.value || undefined)} />
  )
} // prettier-ignore
