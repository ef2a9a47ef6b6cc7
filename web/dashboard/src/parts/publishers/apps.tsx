// A publisher's apps, with what the operator allows them.
import { Anchor, Button, Group, Modal, Text } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useState } from 'react'
import { Link } from 'wouter'
import { checkWhole, wholeOf } from '../../lib/amounts.ts'
import type { Schemas } from '../../lib/api-types.ts'
import { put } from '../../lib/api.ts'
import { formatCount, formatNoun } from '../../lib/format.ts'
import { useChange } from '../../lib/queries.ts'
import { useSubmit } from '../../lib/use-submit.ts'
import { WholeInput } from '../amount-input.tsx'
import { NewAppButton } from '../app/new-app.tsx'
import { type Column, DataTable } from '../data-table.tsx'
import { Section } from '../section.tsx'
import { SubmitForm } from '../submit-form.tsx'
import { OffsetPager } from '../system/offset-pager.tsx'
import { Time } from '../time.tsx'

export type App = Schemas['PublisherReply']['apps'][number]

const MAX_RATE_LIMIT = 1_000_000
const SHOWN = 20

type AppsProps = { publisherId: number; apps: App[]; mayChange: boolean }

export function Apps({ publisherId, apps, mayChange }: AppsProps) {
  const [changing, setChanging] = useState<App | null>(null)
  const [offset, setOffset] = useState(0)
  return (
    <Section title="Apps" about="The rate limit applies to each of an app's keys.">
      {apps.length === 0 ? (
        <Text size="sm">No apps yet. The publisher’s owners can create apps, and so can you.</Text>
      ) : (
        <DataTable
          rows={apps.slice(offset, offset + SHOWN)}
          columns={columnsOf(mayChange ? setChanging : null)}
          rowKey={({ app_id }) => app_id}
          minWidth={680}
          isPlain
          pager={<OffsetPager offset={offset} limit={SHOWN} total={apps.length} onChange={setOffset} />}
        />
      )}
      {mayChange && (
        <Group>
          <NewAppButton publisherId={publisherId} />
        </Group>
      )}
      <Modal
        opened={changing !== null}
        onClose={() => setChanging(null)}
        title={`Rate limit of ${changing?.name ?? ''}`}
      >
        {changing !== null && <Allowance app={changing} onDone={() => setChanging(null)} />}
      </Modal>
    </Section>
  )
}

const columnsOf = (onChange: ((app: App) => void) | null): Column<App>[] => [
  {
    name: 'App',
    isText: true,
    cell: (app) => (
      <>
        <Anchor component={Link} href={`/apps/${app.app_id}`} size="sm">
          {app.name}
        </Anchor>
        <Text size="xs" c="dimmed">
          ID {app.app_id}
          {app.revoked_at !== null && ', keys revoked'}
        </Text>
      </>
    ),
  },
  { name: 'Per US dollar', cell: ({ rate, currency }) => `${formatCount(rate)} ${currency}` },
  {
    name: 'Rate limit',
    cell: (app) => (
      <Group gap="xs" wrap="nowrap">
        {formatCount(app.rate_limit)} per minute
        {onChange !== null && (
          <Button
            size="compact-xs"
            variant="default"
            aria-label={`Change the rate limit of ${app.name}`}
            onClick={() => onChange(app)}
          >
            Change
          </Button>
        )}
      </Group>
    ),
  },
  {
    name: 'Trusted for',
    cell: ({ trusted_offers }) => formatNoun(trusted_offers, 'offer'),
  },
  { name: 'Last request', cell: ({ last_used_at }) => <Time at={last_used_at} ago none="never" /> },
]

function Allowance({ app, onDone }: { app: App; onDone: () => void }) {
  const form = useForm({
    initialValues: { rate_limit: String(app.rate_limit) },
    validate: { rate_limit: checkWhole(1, MAX_RATE_LIMIT) },
  })
  const save = useChange((rate_limit: number) => put(`/apps/${app.app_id}/rate-limit`, { rate_limit }), {
    refresh: ['/publishers', `/apps/${app.app_id}`],
    done: 'Saved, effective immediately.',
    onError: () => {},
    onDone,
  })
  const submit = useSubmit(form, async (values) => {
    await save.mutateAsync(wholeOf(values.rate_limit))
  })
  return (
    <SubmitForm submit={submit} action="Save">
      <WholeInput
        label="Requests per minute"
        description="For each key, live and test."
        required
        data-autofocus
        {...form.getInputProps('rate_limit')}
      />
    </SubmitForm>
  )
}
