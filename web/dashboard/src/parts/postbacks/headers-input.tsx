// Headers of one's own. Values that were saved are never shown again: they are kept, or replaced.
import { ActionIcon, Button, Group, Input, Stack, TextInput } from '@mantine/core'
import { IconPlus, IconTrash } from '@tabler/icons-react'
import type { ReactNode } from 'react'

/** `isKept`: the server has a value, which stays while none is typed. */
export type HeaderRow = { name: string; value: string; isKept: boolean }

/** A row that was added and never used. */
export const isEmpty = ({ name, value }: HeaderRow) => name.trim() === '' && value === ''

/** What would be sent without a word about it: a value without a name, or one of two values. */
export function checkHeaders(rows: HeaderRow[]): string | null {
  const names = rows.filter((row) => !isEmpty(row)).map(({ name }) => name.trim().toLowerCase())
  if (names.includes('')) return 'Enter the name of each header.'
  const twice = names.find((name, i) => names.indexOf(name) !== i)
  return twice === undefined ? null : `The header ${twice} appears twice.`
}

type HeadersInputProps = { value: HeaderRow[]; onChange: (rows: HeaderRow[]) => void; error?: ReactNode }

export function HeadersInput({ value: rows, onChange, error }: HeadersInputProps) {
  const change = (at: number, changed: Partial<HeaderRow>) =>
    onChange(rows.map((row, i) => (i === at ? { ...row, ...changed } : row)))
  return (
    <Input.Wrapper
      label="Custom headers"
      labelElement="div"
      description="For example, a token that your server expects. Values are stored encrypted and never shown again."
      error={error}
      data-path="headers"
    >
      <Stack gap="xs" mt="xs" align="flex-start">
        {rows.map((row, i) => (
          <Group key={i} gap="xs" align="flex-end" w="100%">
            <TextInput
              label="Name"
              maxLength={100}
              style={{ flex: '1 1 9rem' }}
              value={row.name}
              // A value that is kept belongs to its name.
              readOnly={row.isKept}
              onChange={(event) => change(i, { name: event.currentTarget.value })}
            />
            <TextInput
              label="Value"
              maxLength={1000}
              autoComplete="off"
              style={{ flex: '2 1 12rem' }}
              placeholder={row.isKept ? 'unchanged' : ''}
              value={row.value}
              onChange={(event) => change(i, { value: event.currentTarget.value })}
            />
            <ActionIcon
              variant="subtle"
              color="red"
              size="lg"
              aria-label={`Remove header ${row.name}`}
              onClick={() => onChange(rows.filter((_, at) => at !== i))}
            >
              <IconTrash size={18} />
            </ActionIcon>
          </Group>
        ))}
        <Button
          variant="default"
          size="xs"
          leftSection={<IconPlus size={14} />}
          onClick={() => onChange([...rows, { name: '', value: '', isKept: false }])}
        >
          Add header
        </Button>
      </Stack>
    </Input.Wrapper>
  )
}
