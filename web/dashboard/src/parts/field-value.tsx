// The value of a field, as a change of it is shown.

export const Value = ({ value }: { value: unknown }) => (
  <span style={{ whiteSpace: 'pre-wrap' }}>{describe(value)}</span>
)

function describe(value: unknown): string {
  if (value === null || value === undefined || value === '') return '–'
  if (Array.isArray(value)) return value.length === 0 ? 'none' : value.map(describe).join(', ')
  if (typeof value === 'object') {
    const parts = Object.entries(value).filter(([, part]) => part !== null && part !== '' && part !== false)
    return parts.length === 0 ? '–' : parts.map(([name, part]) => `${name}: ${describe(part)}`).join('\n')
  }
  return String(value)
}
