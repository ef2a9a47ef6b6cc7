import { Text } from '@mantine/core'
import { formatTime } from '../../lib/format.ts'
import { EntityLink, type Named } from './entity-link.tsx'
import { fieldLabel, valueLabel } from './words.ts'

type DetailsProps = { details: Record<string, unknown>; mentions?: Mention[] }
export type Mention = Named & { field: string }

/** What is worth knowing of an audit entry: name and value, a line each. */
export function Details({ details, mentions = [] }: DetailsProps) {
  const lines = linesOf(details)
  if (lines.length === 0) return <Text size="sm">–</Text>
  return (
    <>
      {lines.map(({ field, part, value }) => (
        <Text key={`${field} ${part ?? ''}`} size="sm" style={{ overflowWrap: 'anywhere' }}>
          <Text span inherit c="dimmed">
            {part === undefined ? nameOf(field, mentions) : fieldLabel(part)}:
          </Text>{' '}
          <Value field={part ?? field} value={value} mentions={mentions.filter((one) => one.field === field)} />
        </Text>
      ))}
    </>
  )
}

/** `part`: of a field that holds several. */
type Line = { field: string; part?: string; value: unknown }

/** Settings are a line each: of changed ones those that differ, of new ones those that have a value. */
function linesOf({ before, after, ...details }: Record<string, unknown>): Line[] {
  const whole = isRecord(before) && isRecord(after) ? { changes: changesBetween(before, after) } : { before, after }
  return Object.entries({ ...details, ...whole }).flatMap(([field, value]): Line[] => {
    if (value === undefined) return []
    if (!isRecord(value) || isChange(value) || field === 'before' || field === 'after') return [{ field, value }]
    return leavesOf(value).map(([part, one]) => ({ field, part, value: one }))
  })
}

const changesBetween = (before: Record<string, unknown>, after: Record<string, unknown>) => {
  const [old, now] = [flat(before), flat(after)]
  const names = [...new Set([...Object.keys(old), ...Object.keys(now)])]
  return Object.fromEntries(
    names
      .filter((name) => JSON.stringify(old[name]) !== JSON.stringify(now[name]))
      .map((name) => [name, { before: old[name], after: now[name] }]),
  )
}

/** By their own names alone, which say enough. */
const flat = (values: Record<string, unknown>): Record<string, unknown> =>
  Object.fromEntries(Object.entries(values).flatMap(([name, value]) => (isRecord(value) ? Object.entries(flat(value)) : [[name, value]]))) // prettier-ignore

const leavesOf = (values: Record<string, unknown>): [string, unknown][] =>
  Object.entries(values)
    .flatMap(([name, value]): [string, unknown][] =>
      isRecord(value) && !isChange(value) ? leavesOf(value) : [[name, value]],
    )
    .filter(([, value]) => !isEmpty(value))

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const isEmpty = (value: unknown) => value === null || value === '' || (Array.isArray(value) && value.length === 0)

/** What has a name is not announced as an ID. */
const nameOf = (field: string, mentions: Mention[]) =>
  fieldLabel(mentions.some((one) => one.field === field) ? field.replace(/_id(s?)$/, '$1') : field)

type ValueProps = { field: string; value: unknown; mentions: Mention[] }

function Value({ field, value, mentions }: ValueProps) {
  if (mentions.length === 0) return inWords(field, value)
  return [value].flat().map((id, i) => {
    const named = mentions.find((one) => one.id === String(id))
    return (
      <span key={String(id)}>
        {i > 0 && ', '}
        {named === undefined ? inWords(field, id) : <EntityLink of={named} inherit />}
      </span>
    )
  })
}

function inWords(field: string, value: unknown): string {
  if (value === undefined || isEmpty(value)) return 'none'
  if (typeof value === 'boolean') return value ? 'yes' : 'no'
  if (Array.isArray(value)) return value.map((one) => inWords(field, one)).join(', ')
  if (isChange(value)) return `${inWords(field, value.before)} → ${inWords(field, value.after)}`
  if (isRecord(value))
    return Object.entries(value)
      .filter(([, part]) => !isEmpty(part))
      .map(([name, part]) => `${fieldLabel(name)}: ${inWords(name, part)}`)
      .join(', ')
  const text = String(value)
  return ISO_TIME.test(text) ? formatTime(text) : shorten(valueLabel(field, text))
}

/** Such as terms of service, which the API has whole. */
const shorten = (text: string) => (text.length > 500 ? `${text.slice(0, 500)}…` : text)

const ISO_TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/

const isChange = (value: unknown): value is { before: unknown; after: unknown } =>
  isRecord(value) && 'before' in value && 'after' in value
