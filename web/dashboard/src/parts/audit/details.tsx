import { Text } from '@mantine/core'

/** What is worth knowing of an audit entry: name and value, a line each. */
export function Details({ details }: { details: Record<string, unknown> }) {
  const entries = Object.entries(details)
  if (entries.length === 0) return <Text size="sm">–</Text>
  return (
    <>
      {entries.map(([name, value]) => (
        <Text key={name} size="sm" style={{ overflowWrap: 'anywhere' }}>
          <Text span inherit c="dimmed">
            {name.replaceAll('_', ' ')}
          </Text>{' '}
          {inWords(value)}
        </Text>
      ))}
    </>
  )
}

function inWords(value: unknown): string {
  if (value === null || value === undefined || value === '') return 'none'
  if (value === true) return 'yes'
  if (value === false) return 'no'
  if (Array.isArray(value)) return value.length === 0 ? 'none' : value.map(inWords).join(', ')
  if (typeof value === 'object')
    return Object.entries(value)
      .map(([name, part]) => `${name.replaceAll('_', ' ')}: ${inWords(part)}`)
      .join(', ')
  return String(value)
}
