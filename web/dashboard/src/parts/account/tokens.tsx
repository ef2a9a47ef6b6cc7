import { Button, Group, NumberInput, Stack, Table, Text, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useState } from 'react'
import type { IssuedToken, TokenList } from '../../../../../src/manage/account/schema.ts'
import { post, type Reply, remove } from '../../lib/api.ts'
import { useChange, useGet } from '../../lib/queries.ts'
import { useSubmit } from '../../lib/use-submit.ts'
import { FormFault } from '../form-fault.tsx'
import { Loaded } from '../page.tsx'
import { SecretShown } from '../secret.tsx'
import { Section } from '../section.tsx'
import { Time } from '../time.tsx'

export function TokensSection() {
  const tokens = useGet<Reply<typeof TokenList>>('/me/tokens')
  const [issued, setIssued] = useState<string | null>(null)
  const revoke = useChange((id: number) => remove(`/me/tokens/${id}`), {
    refresh: ['/me/tokens'],
    done: 'The token no longer works.',
  })
  return (
    <Section
      title="Tokens for programs"
      about={
        <>
          A program with a token may do what you may, through the management API at /manage/v1. It is described at{' '}
          <a href="/docs/manage">/docs/manage</a>.
        </>
      }
    >
      {issued !== null && <SecretShown name="token" value={issued} />}
      <Loaded query={tokens}>
        {(list) =>
          list.tokens.length === 0 ? (
            <Text size="sm" c="dimmed">
              There are none.
            </Text>
          ) : (
            <Table.ScrollContainer minWidth={480}>
              <Table>
                <Table.Thead>
                  <Table.Tr>
                    <Table.Th>Name</Table.Th>
                    <Table.Th>Last used</Table.Th>
                    <Table.Th>Expires</Table.Th>
                    <Table.Th aria-label="Revoke" />
                  </Table.Tr>
                </Table.Thead>
                <Table.Tbody>
                  {list.tokens.map((token) => (
                    <Table.Tr key={token.token_id}>
                      <Table.Td>{token.name}</Table.Td>
                      <Table.Td>
                        <Time at={token.last_used_at} ago none="never" />
                      </Table.Td>
                      <Table.Td>
                        <Time at={token.expires_at} none="never" />
                      </Table.Td>
                      <Table.Td>
                        <Button size="xs" variant="default" onClick={() => revoke.mutate(token.token_id)}>
                          Revoke
                        </Button>
                      </Table.Td>
                    </Table.Tr>
                  ))}
                </Table.Tbody>
              </Table>
            </Table.ScrollContainer>
          )
        }
      </Loaded>
      <NewTokenForm onIssued={setIssued} />
    </Section>
  )
}

function NewTokenForm({ onIssued }: { onIssued: (token: string) => void }) {
  const form = useForm<{ name: string; expires_in_days: number | '' }>({
    initialValues: { name: '', expires_in_days: 90 },
  })
  const create = useChange((body: object) => post<Reply<typeof IssuedToken>>('/me/tokens', body), {
    refresh: ['/me/tokens'],
    onFault: () => {},
  })
  const { onSubmit, isSending, fault } = useSubmit(form, async ({ name, expires_in_days }) => {
    const { token } = await create.mutateAsync({ name, ...(expires_in_days === '' ? {} : { expires_in_days }) })
    onIssued(token)
    form.reset()
  })
  return (
    <form onSubmit={onSubmit}>
      <Stack>
        <FormFault fault={fault} />
        <Group align="flex-end">
          <TextInput label="What is it for?" required maxLength={100} {...form.getInputProps('name')} />
          <NumberInput
            label="Good for days"
            placeholder="for ever"
            min={1}
            max={3650}
            allowDecimal={false}
            w={140}
            {...form.getInputProps('expires_in_days')}
          />
          <Button type="submit" variant="default" loading={isSending}>
            Make a token
          </Button>
        </Group>
      </Stack>
    </form>
  )
}
