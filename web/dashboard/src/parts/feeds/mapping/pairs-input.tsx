// Names with a value each, such as a network's words and ours.
import { ActionIcon, Button, Group, Stack, TextInput } from '@mantine/core'
import { IconPlus, IconTrash } from '@tabler/icons-react'
import { type ReactNode, useState } from 'react'
import { useMappingForm } from './form-context.tsx'
import { isJson } from './sources.ts'

type Row = { name: string; value: string }

type PairsInputProps = {
  /** What one of them is called: parameter, word. */
  noun: string
  names: string
  values: string
  value: unknown
  onChange: (value: Record<string, string> | undefined) => void
  initial?: string
  renderValue?: (row: Row, onChange: (value: string) => void) => ReactNode
  children?: ReactNode
}

const rowsOf = (value: unknown): Row[] => Object.entries(isJson(value) ? value : {}).map(([name, one]) => ({ name, value: String(one) })) // prettier-ignore
const recordOf = (rows: Row[]) => Object.fromEntries(rows.filter(({ name }) => name !== '').map(({ name, value }) => [name, value])) // prettier-ignore

export function PairsInput({ noun, names, values, value, onChange, initial = '', renderValue, children }: PairsInputProps) {
  const { disabled } = useMappingForm()
  const [typed, setTyped] = useState(() => rowsOf(value))
  // A row without a name, or with that of another, is not in the mapping yet.
  const rows = JSON.stringify(recordOf(typed)) === JSON.stringify(isJson(value) ? value : {}) ? typed : rowsOf(value)
  const write = (next: Row[]) => {
    setTyped(next)
    const record = recordOf(next)
    onChange(Object.keys(record).length === 0 ? undefined : record)
  }
  const change = (at: number, changed: Partial<Row>) => write(rows.map((row, i) => (i === at ? { ...row, ...changed } : row)))
  return (
    <Stack gap="xs" align="flex-start">
      {rows.map((row, i) => (
        <Group key={i} gap="xs" align="flex-end" w="100%" wrap="nowrap">
          <TextInput label={i === 0 ? names : undefined} aria-label={`${names} ${i + 1}`} size="xs" style={{ flex: 1, minWidth: 0 }} disabled={disabled} value={row.name} onChange={(event) => change(i, { name: event.currentTarget.value })} />
          <div style={{ flex: 1, minWidth: 0 }}>
            {renderValue?.(row, (next) => change(i, { value: next })) ?? (
              <TextInput label={i === 0 ? values : undefined} aria-label={`${values} ${i + 1}`} size="xs" disabled={disabled} value={row.value} onChange={(event) => change(i, { value: event.currentTarget.value })} />
            )}
          </div>
          <ActionIcon variant="subtle" color="red" disabled={disabled} aria-label={`Remove ${noun} ${row.name}`} onClick={() => write(rows.filter((_, at) => at !== i))}>
            <IconTrash size={16} />
          </ActionIcon>
        </Group>
      ))}
      <Group gap={4}>
        <Button variant="subtle" size="compact-xs" disabled={disabled} leftSection={<IconPlus size={12} />} onClick={() => write([...rows, { name: '', value: initial }])}>
          Add {noun}
        </Button>
        {children}
      </Group>
    </Stack>
  )
} // prettier-ignore
