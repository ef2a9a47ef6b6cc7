// A field that is read by paths: the first with a value counts, and some more can be said about each kind of field.
import { ActionIcon, Button, Checkbox, Group, Select, Stack, TextInput } from '@mantine/core'
import { IconTrash } from '@tabler/icons-react'
import { useState } from 'react'
import type { Lists } from './answer-paths.ts'
import { useMappingForm } from './form-context.tsx'
import { FieldValues, PathInput } from './path-input.tsx'
import { getAt, type Json, type Place, placeText, readSource, type Source, writePaths, writeSource } from './sources.ts'

type Option = 'html' | 'join' | 'default' | 'split' | 'cents' | 'take'

export type SourceFieldProps = {
  place: Place
  label: string
  about?: string
  lists: Lists
  isRequired?: boolean
  options?: readonly Option[]
  /** What stands beside the path from the start, in fields that are never a path alone. */
  initial?: Json
  /** Nothing else in it makes sense without a path. */
  isGoneWithoutPath?: boolean
  /** Where the values of it are shown by a field around it. */
  hidesValues?: boolean
  /** It has paths alone, and nothing beside them. */
  isBare?: boolean
  isList?: boolean
  /** What adds a path. */
  more?: string
  /** A part of it that another field shows. */
  except?: string
}

export function SourceField({ place, label, about, lists, isRequired = false, options = [], initial, isGoneWithoutPath = false, hidesValues = false, isBare = false, isList = false, more = 'Add fallback path', except }: SourceFieldProps) {
  const form = useMappingForm()
  const stored = getAt(form.mapping, place)
  const { paths, rest } = readSource(stored)
  const isSaid = options.some((option) => rest[option] !== undefined)
  const [hasMore, setMore] = useState(false)
  const [isOpen, setOpen] = useState(false)
  const rows = hasMore || paths.length === 0 ? [...paths, ''] : paths
  const write = (next: Partial<Source>) => {
    const source = { paths, rest: stored === undefined ? { ...initial } : rest, ...next }
    const isGone = isGoneWithoutPath && source.paths.length === 0
    form.change(place, isGone ? undefined : isBare ? writePaths(source.paths) : writeSource(source, initial !== undefined))
  }
  const setPath = (at: number, path: string) => {
    const next = at === paths.length ? [...paths, path] : paths.map((one, i) => (i === at ? path : one))
    if (at === paths.length) setMore(false)
    write({ paths: next.length === 1 && path === '' ? [] : next })
  }
  const remove = (at: number) => (at === paths.length ? setMore(false) : write({ paths: paths.filter((_, i) => i !== at) }))
  return (
    <Stack gap={4}>
      {rows.map((path, i) => (
        <Group key={i} gap={4} align="flex-end" wrap="nowrap">
          <div style={{ flex: 1, minWidth: 0 }}>
            <PathInput
              id={i === 0 ? placeText(place) : `${placeText(place)}#${i}`}
              label={i === 0 ? label : isBare && isList ? `${label}, ${i + 1}` : `${label}, fallback`}
              about={i === 0 ? about : undefined}
              value={path}
              lists={lists}
              isList={isList}
              isRequired={isRequired && i === 0}
              error={i === 0 ? form.problemOf(place, true, except) : null}
              onChange={(next) => setPath(i, next)}
            />
          </div>
          {rows.length > 1 && !form.disabled && (
            <ActionIcon variant="subtle" color="red" size="lg" aria-label={`Remove path ${i + 1} of ${label}`} onClick={() => remove(i)}>
              <IconTrash size={16} />
            </ActionIcon>
          )}
        </Group>
      ))}
      {!hidesValues && <FieldValues place={place} label={label} />}
      {!form.disabled && paths.length > 0 && (
        <Group gap={4}>
          {options.length > 0 && !isSaid && (
            <Button variant="subtle" size="compact-xs" aria-expanded={isOpen} aria-label={`Options of ${label}`} onClick={() => setOpen(!isOpen)}>
              Options
            </Button>
          )}
          {!hasMore && (
            <Button variant="subtle" size="compact-xs" aria-label={`${more}: ${label}`} onClick={() => setMore(true)}>
              {more}
            </Button>
          )}
        </Group>
      )}
      {(isOpen || isSaid) && <Options options={options} label={label} rest={rest} onChange={(next) => write({ rest: { ...rest, ...next } })} />}
    </Stack>
  )
} // prettier-ignore

const TAKES = [
  { value: 'first', label: 'Use the first' },
  { value: 'only', label: 'Skip unless all are equal' },
  { value: 'sum', label: 'Use the sum' },
  { value: 'highest', label: 'Use the highest' },
]

type OptionsProps = { options: readonly Option[]; label: string; rest: Source['rest']; onChange: (next: Source['rest']) => void } // prettier-ignore

function Options({ options, label, rest, onChange }: OptionsProps) {
  const { disabled } = useMappingForm()
  const text = (name: Option, title: string, placeholder?: string) =>
    options.includes(name) && <TextInput key={name} label={title} aria-label={`${title}: ${label}`} size="xs" disabled={disabled} placeholder={placeholder} value={String(rest[name] ?? '')} onChange={(event) => onChange({ [name]: event.currentTarget.value || undefined })} /> // prettier-ignore
  const flag = (name: Option, title: string) =>
    options.includes(name) && <Checkbox key={name} label={title} aria-label={`${title}: ${label}`} size="xs" disabled={disabled} checked={rest[name] === true} onChange={(event) => onChange({ [name]: event.currentTarget.checked || undefined })} /> // prettier-ignore
  return (
    <Group gap="sm" align="flex-end" pl="sm">
      {flag('html', 'Strip HTML')}
      {flag('cents', 'In cents')}
      {text('join', 'Join values with', 'use the first')}
      {text('split', 'Split at', ',')}
      {text('default', 'If empty')}
      {options.includes('take') && (
        <Select label="If several" aria-label={`If several: ${label}`} size="xs" allowDeselect={false} disabled={disabled} data={TAKES} value={String(rest['take'] ?? 'first')} onChange={(take) => onChange({ take: take === 'first' ? undefined : take })} />
      )}
    </Group>
  )
} // prettier-ignore
