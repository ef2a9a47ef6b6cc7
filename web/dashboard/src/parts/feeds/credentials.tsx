// Credentials of an own feed, by name. Values that were saved are never shown again: they are kept, replaced or removed.
import { ActionIcon, Button, Group, Input, PasswordInput, Stack, TextInput } from '@mantine/core'
import { IconPlus, IconTrash } from '@tabler/icons-react'
import type { ReactNode } from 'react'

/** `isKept`: the server has a value, which stays while none is typed. */
export type CredentialRow = { name: string; value: string; isKept: boolean }

export const NEW_CREDENTIALS: CredentialRow[] = [{ name: 'key', value: '', isKept: false }]

/** What is to be sent. */
export const valuesIn = (rows: readonly CredentialRow[]): Record<string, string> =>
  Object.fromEntries(rows.filter(({ name, value }) => name.trim() !== '' && value.trim() !== '').map(({ name, value }) => [name.trim(), value])) // prettier-ignore

/** What would be left out without a word about it, or could not be named in a request. */
export function checkCredentials(rows: readonly CredentialRow[]): string | null {
  const used = rows.filter(({ name, value }) => name.trim() !== '' || value !== '')
  const names = used.map(({ name }) => name.trim())
  if (names.includes('')) return 'Name each credential.'
  const odd = names.find((name) => !/^\w+$/.test(name))
  if (odd !== undefined) return `“${odd}” is not a valid name: use letters, digits and _.`
  const twice = names.find((name, i) => names.indexOf(name) !== i)
  return twice === undefined ? null : `There are two credentials named ${twice}.`
}

type CredentialsInputProps = { value: CredentialRow[]; onChange: (rows: CredentialRow[]) => void; error?: ReactNode; disabled?: boolean } // prettier-ignore

export function CredentialsInput({ value: rows, onChange, error, disabled = false }: CredentialsInputProps) {
  const change = (at: number, changed: Partial<CredentialRow>) =>
    onChange(rows.map((row, i) => (i === at ? { ...row, ...changed } : row)))
  return (
    <Input.Wrapper
      label="Credentials"
      labelElement="div"
      description="Write {name} in the request to insert a value. Values are stored encrypted and never shown again."
      error={error}
      data-path="credentials"
      maw={620}
    >
      <Stack gap="xs" mt="xs" align="flex-start">
        {rows.map((row, i) => (
          <Group key={i} gap="xs" align="flex-end" wrap="nowrap" w="100%">
            <TextInput
              label="Credential"
              maxLength={50}
              style={{ flex: '1 1 5rem', minWidth: 0 }}
              disabled={disabled}
              // A value that is kept belongs to its name.
              readOnly={row.isKept}
              value={row.name}
              onChange={(event) => change(i, { name: event.currentTarget.value })}
            />
            <PasswordInput
              label={row.name === '' ? 'Value' : `Value of ${row.name}`}
              maxLength={2000}
              autoComplete="off"
              style={{ flex: '2 1 8rem', minWidth: 0 }}
              disabled={disabled}
              placeholder={row.isKept ? 'unchanged' : ''}
              value={row.value}
              onChange={(event) => change(i, { value: event.currentTarget.value })}
            />
            <ActionIcon
              variant="subtle"
              color="red"
              size="lg"
              disabled={disabled}
              aria-label={`Remove credential ${row.name}`}
              onClick={() => onChange(rows.filter((_, at) => at !== i))}
            >
              <IconTrash size={18} />
            </ActionIcon>
          </Group>
        ))}
        {!disabled && (
          <Button
            variant="default"
            size="xs"
            leftSection={<IconPlus size={14} />}
            onClick={() => onChange([...rows, { name: '', value: '', isKept: false }])}
          >
            Add credential
          </Button>
        )}
      </Stack>
    </Input.Wrapper>
  )
}
