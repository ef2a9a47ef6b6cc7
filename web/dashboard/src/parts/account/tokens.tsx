import { Button, Group, MultiSelect, NumberInput, Stack, Table, TagsInput, Text, TextInput } from '@mantine/core'
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
      title="API tokens"
      about={
        <>
          For programs that use the management API in your name, within their scopes. People, secrets and postback URLs
          stay with you. The API is described at <a href="/docs/manage">/docs/manage</a>.
        </>
      }
    >
      {issued !== null && <SecretShown name="token" value={issued} />}
      <Loaded query={tokens}>
        {(list) =>
          list.tokens.length === 0 ? (
            <Text size="sm" c="dimmed">
              No tokens yet.
            </Text>
          ) : (
            <Table.ScrollContainer minWidth={480}>
              <Table>
                <Table.Thead>
                  <Table.Tr>
                    <Table.Th>Name</Table.Th>
                    <Table.Th>Scopes</Table.Th>
                    <Table.Th>Last used</Table.Th>
                    <Table.Th>Expires</Table.Th>
                    <Table.Th aria-label="Revoke" />
                  </Table.Tr>
                </Table.Thead>
                <Table.Tbody>
                  {list.tokens.map((token) => (
                    <Table.Tr key={token.token_id}>
                      <Table.Td>
                        {token.name}
                        {token.allowed_ips.length > 0 && (
                          <Text size="xs" c="dimmed">
                            from {token.allowed_ips.join(', ')}
                          </Text>
                        )}
                      </Table.Td>
                      <Table.Td>{token.scopes.join(', ')}</Table.Td>
                      <Table.Td>
                        <Time at={token.last_used_at} ago none="never" />
                      </Table.Td>
                      <Table.Td>
                        <Time at={token.expires_at} />
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

const SCOPES = {
  read: 'Read everything',
  apps: 'Apps',
  postbacks: 'Postbacks',
  offers: 'Offers',
  conversions: 'Conversions',
  reports: 'Reports',
  money: 'Balances and ledger',
  advertisers: 'Advertisers',
  publishers: 'Publishers',
  fraud: 'Fraud and bans',
  people: 'People',
  system: 'Audit log and system',
} satisfies Record<Reply<typeof TokenList>['tokens'][number]['scopes'][number], string>

function NewTokenForm({ onIssued }: { onIssued: (token: string) => void }) {
  const form = useForm<{ name: string; scopes: string[]; expires_in_days: number | string; allowed_ips: string[] }>({
    initialValues: { name: '', scopes: ['read'], expires_in_days: 90, allowed_ips: [] },
  })
  const create = useChange((body: object) => post<Reply<typeof IssuedToken>>('/me/tokens', body), {
    refresh: ['/me/tokens'],
    onFault: () => {},
  })
  const { onSubmit, isSending, fault } = useSubmit(form, async (values) => {
    const { token } = await create.mutateAsync(values)
    onIssued(token)
    form.reset()
  })
  return (
    <form onSubmit={onSubmit}>
      <Stack maw={520}>
        <FormFault fault={fault} />
        <Group align="flex-end">
          <TextInput label="What is it for?" required maxLength={100} {...form.getInputProps('name')} />
          <NumberInput
            label="Expires in (days)"
            required
            min={1}
            max={365}
            allowDecimal={false}
            w={140}
            {...form.getInputProps('expires_in_days')}
          />
        </Group>
        <MultiSelect
          label="Scopes"
          description="Each area can be read and changed, as far as your role allows."
          required
          data={Object.entries(SCOPES).map(([value, label]) => ({ value, label }))}
          {...form.getInputProps('scopes')}
        />
        <TagsInput
          label="IP allowlist"
          description="Addresses or CIDRs such as 203.0.113.0/24. Empty: from anywhere."
          maxTags={50}
          {...form.getInputProps('allowed_ips')}
        />
        <Group>
          <Button type="submit" variant="default" loading={isSending}>
            Create token
          </Button>
        </Group>
      </Stack>
    </form>
  )
}
