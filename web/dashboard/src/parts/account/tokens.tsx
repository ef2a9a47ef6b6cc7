import { Button, Group, MultiSelect, Stack, TagsInput, Text, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { modals } from '@mantine/modals'
import { useState } from 'react'
import { checkWhole, wholeOf } from '../../lib/amounts.ts'
import type { Schemas } from '../../lib/api-types.ts'
import { post, remove } from '../../lib/api.ts'
import { useChange, useGet } from '../../lib/queries.ts'
import { useSubmit } from '../../lib/use-submit.ts'
import type { BodyOf } from '../../lib/operations.ts'
import { WholeInput } from '../amount-input.tsx'
import { type Column, DataTable } from '../data-table.tsx'
import { FormError } from '../form-error.tsx'
import { Loaded } from '../page.tsx'
import { SecretShown } from '../secret.tsx'
import { Section } from '../section.tsx'
import { Time } from '../time.tsx'

type Token = Schemas['TokenList']['tokens'][number]

export function TokensSection() {
  const tokens = useGet('/me/tokens')
  const [issued, setIssued] = useState<string | null>(null)
  const revoke = useChange((id: number) => remove(`/me/tokens/${id}`), {
    refresh: ['/me/tokens'],
    done: 'Token revoked.',
  })
  const ask = ({ token_id, name }: Token) =>
    modals.openConfirmModal({
      title: `Revoke ${name}?`,
      children: <Text size="sm">Programs that use this token stop working immediately. This cannot be undone.</Text>,
      labels: { confirm: 'Revoke token', cancel: 'Cancel' },
      confirmProps: { color: 'red' },
      onConfirm: () => revoke.mutate(token_id),
    })
  return (
    <Section
      title="API tokens"
      about={
        <>
          For programs that use the management API on your behalf, limited to the scopes you choose. Tokens can’t manage
          people, secrets or postback URLs. The API is documented at <a href="/docs/manage">/docs/manage</a>.
        </>
      }
    >
      {issued !== null && <SecretShown name="token" value={issued} />}
      <Loaded query={tokens}>
        {(list) => (
          <DataTable
            rows={list.tokens}
            columns={[...COLUMNS, revokeColumn(ask)]}
            rowKey={({ token_id }) => token_id}
            minWidth={480}
            isPlain
            empty={
              <Text size="sm" c="dimmed">
                No tokens yet.
              </Text>
            }
          />
        )}
      </Loaded>
      <NewTokenForm onIssued={setIssued} />
    </Section>
  )
}

const COLUMNS: Column<Token>[] = [
  {
    name: 'Name',
    isText: true,
    cell: ({ name, allowed_ips }) => (
      <>
        {name}
        {allowed_ips.length > 0 && (
          <Text size="xs" c="dimmed">
            from {allowed_ips.join(', ')}
          </Text>
        )}
      </>
    ),
  },
  { name: 'Scopes', cell: ({ scopes }) => scopes.join(', ') },
  { name: 'Last used', cell: ({ last_used_at }) => <Time at={last_used_at} ago none="never" /> },
  { name: 'Expires', cell: ({ expires_at }) => <Time at={expires_at} /> },
]

const revokeColumn = (ask: (token: Token) => void): Column<Token> => ({
  name: 'Actions',
  cell: (token) => (
    <Button size="xs" variant="default" aria-label={`Revoke ${token.name}`} onClick={() => ask(token)}>
      Revoke
    </Button>
  ),
})

type Scope = Schemas['TokenList']['tokens'][number]['scopes'][number]

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
} satisfies Record<Scope, string>

function NewTokenForm({ onIssued }: { onIssued: (token: string) => void }) {
  const form = useForm({
    initialValues: { name: '', scopes: ['read'] as Scope[], expires_in_days: '90', allowed_ips: [] as string[] },
    validate: { expires_in_days: checkWhole(1, 365) },
  })
  const create = useChange((body: BodyOf<'POST /me/tokens'>) => post('/me/tokens', body), {
    refresh: ['/me/tokens'],
    onError: () => {},
  })
  const { formProps, isSending, error } = useSubmit(form, async (values) => {
    const { token } = await create.mutateAsync({ ...values, expires_in_days: wholeOf(values.expires_in_days) })
    onIssued(token)
    return form.getInitialValues()
  })
  return (
    <form {...formProps}>
      <Stack maw={520}>
        <FormError error={error} />
        <Group align="flex-end">
          <TextInput label="Token name" required maxLength={100} {...form.getInputProps('name')} />
          <WholeInput label="Expires in (days)" required w={160} {...form.getInputProps('expires_in_days')} />
        </Group>
        <MultiSelect
          label="Scopes"
          description="Each scope allows reading and changing, as far as your role does."
          required
          data={Object.entries(SCOPES).map(([value, label]) => ({ value, label }))}
          {...form.getInputProps('scopes')}
        />
        <TagsInput
          label="IP allowlist"
          description="IP addresses or CIDR ranges, such as 203.0.113.0/24. Leave empty to allow any."
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
