// Publishers that signed up: those that wait for a decision, and those that were decided.
import { Anchor, Button, Text } from '@mantine/core'
import { Link, useLocation } from 'wouter'
import type { Schemas } from '../../lib/api-types.ts'
import { useGet } from '../../lib/queries.ts'
import { APPLICATION_STATUSES } from '../../lib/statuses.ts'
import { type Column, DataTable } from '../../parts/data-table.tsx'
import { Empty, Loaded, Page } from '../../parts/page.tsx'
import { Pager } from '../../parts/pager.tsx'
import { useQueueStatus } from '../../parts/queue-status.tsx'
import { Status } from '../../parts/status.tsx'
import { Time } from '../../parts/time.tsx'

export default function Applications() {
  const [, navigate] = useLocation()
  const { status, pages, control } = useQueueStatus(APPLICATION_STATUSES)
  const found = useGet('/applications', { query: { status, cursor: pages.cursor } })
  return (
    <Page
      title="Applications"
      about="Publishers that signed up and verified their email address. Until you approve them, only their test keys work."
      actions={
        <Button component={Link} href="/network/applications/settings" variant="default">
          Sign-up settings
        </Button>
      }
    >
      {control}
      <Loaded query={found}>
        {({ applications, next_cursor }) => (
          <DataTable
            rows={applications}
            columns={COLUMNS}
            rowKey={({ publisher_id }) => publisher_id}
            label="Applications"
            minWidth={760}
            onOpen={({ publisher_id }) => navigate(pathOf(publisher_id))}
            pager={<Pager pages={pages} nextCursor={next_cursor} />}
            empty={
              <Empty title={EMPTY[status]}>
                Applications appear here when publishers sign up. Open sign-up in the settings.
              </Empty>
            }
          />
        )}
      </Loaded>
    </Page>
  )
}

const EMPTY = {
  waiting: 'No applications are waiting',
  approved: 'No applications were approved',
  refused: 'No applications were refused',
}

const pathOf = (publisherId: number) => `/network/applications/${publisherId}`

const COLUMNS: Column<Schemas['ApplicationList']['applications'][number]>[] = [
  {
    name: 'Publisher',
    isText: true,
    cell: ({ publisher_id, publisher }) => (
      <Anchor component={Link} href={pathOf(publisher_id)} size="sm">
        {publisher}
      </Anchor>
    ),
  },
  {
    name: 'Person',
    isText: true,
    cell: ({ name, email }) => (
      <>
        {name}
        <Text size="xs" c="dimmed">
          {email}
        </Text>
      </>
    ),
  },
  { name: 'Website', isText: true, cell: ({ website }) => website },
  { name: 'Status', cell: ({ status }) => <Status value={status} /> },
  { name: 'Signed up', cell: ({ verified_at }) => <Time at={verified_at} ago /> },
]
