// A publisher's apps, with what the operator allows them.
import { Anchor, Button, Group, Modal, NumberInput, Stack, Table, Text } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useState } from 'react'
import { Link } from 'wouter'
import type { PublisherReply } from '../../../../../src/manage/publishers/schema.ts'
import { put, type Reply } from '../../lib/api.ts'
import { formatCount } from '../../lib/format.ts'
import { useChange } from '../../lib/queries.ts'
import { useSubmit } from '../../lib/use-submit.ts'
import { FormFault } from '../form-fault.tsx'
import { Section } from '../section.tsx'
import { Time } from '../time.tsx'

export type App = Reply<typeof PublisherReply>['apps'][number]

const MAX_RATE_LIMIT = 1_000_000

export function Apps({ apps, mayChange }: { apps: App[]; mayChange: boolean }) {
  const [changing, setChanging] = useState<App | null>(null)
  return (
    <Section title="Apps" about="The allowance counts requests a minute, for each of an app's keys.">
      {apps.length === 0 ? (
        <Text size="sm">None yet. Its people make them, or you do: offerdeck app create.</Text>
      ) : (
        <Table.ScrollContainer minWidth={680}>
          <Table>
            <Table.Thead>
              <Table.Tr>
                <Table.Th>App</Table.Th>
                <Table.Th>One US dollar is</Table.Th>
                <Table.Th>Allowance</Table.Th>
                <Table.Th>Trusted for</Table.Th>
                <Table.Th>Last request</Table.Th>
              </Table.Tr>
            </Table.Thead>
            <Table.Tbody>
              {apps.map((app) => (
                <Table.Tr key={app.app_id}>
                  <Table.Td>
                    <Anchor component={Link} href={`/apps/${app.app_id}`} size="sm">
                      {app.name}
                    </Anchor>
                    <Text size="xs" c="dimmed">
                      id {app.app_id}
                      {app.revoked_at !== null && ', keys revoked'}
                    </Text>
                  </Table.Td>
                  <Table.Td>
                    {formatCount(app.rate)} {app.currency}
                  </Table.Td>
                  <Table.Td>
                    <Group gap="xs" wrap="nowrap">
                      {formatCount(app.rate_limit)} a minute
                      {mayChange && (
                        <Button
                          size="compact-xs"
                          variant="default"
                          aria-label={`Change the allowance of ${app.name}`}
                          onClick={() => setChanging(app)}
                        >
                          Change
                        </Button>
                      )}
                    </Group>
                  </Table.Td>
                  <Table.Td>
                    {formatCount(app.trusted_offers)} {app.trusted_offers === 1 ? 'offer' : 'offers'}
                  </Table.Td>
                  <Table.Td>
                    <Time at={app.last_used_at} ago none="never" />
                  </Table.Td>
                </Table.Tr>
              ))}
            </Table.Tbody>
          </Table>
        </Table.ScrollContainer>
      )}
      <Modal
        closeButtonProps={{ 'aria-label': 'Close' }}
        opened={changing !== null}
        onClose={() => setChanging(null)}
        title={`Allowance of ${changing?.name ?? ''}`}
      >
        {changing !== null && <Allowance app={changing} onDone={() => setChanging(null)} />}
      </Modal>
    </Section>
  )
}

function Allowance({ app, onDone }: { app: App; onDone: () => void }) {
  const form = useForm<{ rate_limit: number | string }>({ initialValues: { rate_limit: app.rate_limit } })
  const save = useChange((rate_limit: number) => put(`/apps/${app.app_id}/rate-limit`, { rate_limit }), {
    refresh: ['/publishers', `/apps/${app.app_id}`],
    done: 'The new allowance holds from now on.',
    onFault: () => {},
    onDone,
  })
  const { onSubmit, isSending, fault } = useSubmit(form, async (values) => {
    await save.mutateAsync(Number(values.rate_limit))
  })
  return (
    <form onSubmit={onSubmit}>
      <Stack>
        <FormFault fault={fault} />
        <NumberInput
          label="Requests a minute"
          description="For each of its keys: live and test."
          required
          min={1}
          max={MAX_RATE_LIMIT}
          allowDecimal={false}
          thousandSeparator=","
          data-autofocus
          {...form.getInputProps('rate_limit')}
        />
        <Button type="submit" loading={isSending} disabled={form.values.rate_limit === ''}>
          Save
        </Button>
      </Stack>
    </form>
  )
}
