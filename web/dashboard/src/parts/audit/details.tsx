import { Text } from '@mantine/core'
import { formatTime } from '../../lib/format.ts'
import { EntityLink, type Named } from './entity-link.tsx'

type DetailsProps = { details: Record<string, unknown>; mentions?: Mention[] }
export type Mention = Named & { field: string }

/** What is worth knowing of an audit entry: name and value, a line each. */
export function Details({ details, mentions = [] }: DetailsProps) {
  const entries = Object.entries(details)
  if (entries.length === 0) return <Text size="sm">–</Text>
  return (
    <>
      {entries.map(([name, value]) => (
        <Text key={name} size="sm" style={{ overflowWrap: 'anywhere' }}>
          <Text span inherit c="dimmed">
            {wordsOf(name, mentions)}
          </Text>{' '}
          <Value value={value} mentions={mentions.filter(({ field }) => field === name)} />
        </Text>
      ))}
    </>
  )
}

/** What has a name is not announced as an ID. */
const wordsOf = (field: string, mentions: Mention[]) =>
  (mentions.some((one) => one.field === field) ? field.replace(/_id(s?)$/, '$1') : field).replaceAll('_', ' ')

function Value({ value, mentions }: { value: unknown; mentions: Mention[] }) {
  if (mentions.length === 0) return inWords(value)
  return [value].flat().map((id, i) => {
    const named = mentions.find((one) => one.id === String(id))
    return (
      <span key={String(id)}>
        {i > 0 && ', '}
        {named === undefined ? inWords(id) : <EntityLink of={named} inherit />}
      </span>
    )
  })
}

function inWords(value: unknown): string {
  if (value === null || value === undefined || value === '') return 'none'
  if (value === true) return 'yes'
  if (value === false) return 'no'
  if (Array.isArray(value)) return value.length === 0 ? 'none' : value.map(inWords).join(', ')
  if (isChange(value)) return `${inWords(value.before)} → ${inWords(value.after)}`
  if (typeof value === 'object')
    return Object.entries(value)
      .map(([name, part]) => `${name.replaceAll('_', ' ')}: ${inWords(part)}`)
      .join(', ')
  return typeof value === 'string' && ISO_TIME.test(value) ? formatTime(value) : shorten(String(value))
}

/** Such as terms of service, which the API has whole. */
const shorten = (text: string) => (text.length > 500 ? `${text.slice(0, 500)}…` : text)

const ISO_TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/

const isChange = (value: unknown): value is { before: unknown; after: unknown } =>
  typeof value === 'object' && value !== null && 'before' in value && 'after' in value
