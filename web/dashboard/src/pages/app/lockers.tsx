import { Anchor, Button } from '@mantine/core'
import { Link, useLocation, useParams } from 'wouter'
import { formatCount } from '../../lib/format.ts'
import { mayWrite, useMe } from '../../lib/me.ts'
import { useGet } from '../../lib/queries.ts'
import { type Column, DataTable } from '../../parts/data-table.tsx'
import { conditionOf, KINDS, type Locker, openedOf, stateOf, unlockRateOf } from '../../parts/lockers/data.ts'
import { Empty, Loaded, Page } from '../../parts/page.tsx'
import { Pager, usePages } from '../../parts/pager.tsx'
import { Status } from '../../parts/status.tsx'

export default function Lockers() {
  const { app_id } = useParams<{ app_id: string }>()
  const app = useGet(`/apps/${app_id}`)
  const pages = usePages()
  const lockers = useGet(`/apps/${app_id}/lockers`, { query: { cursor: pages.cursor } })
  const [, go] = useLocation()
  const canWrite = mayWrite(useMe())
  const base = `/apps/${app_id}/lockers`
  return (
    <Page
      title="Lockers"
      about="Visitors complete offers to unlock part of your page, or a link."
      actions={
        canWrite && (
          <Button component={Link} href={`${base}/new`}>
            New locker
          </Button>
        )
      }
    >
      <Loaded query={app}>
        {({ currency }) => (
          <Loaded query={lockers}>
            {(list) => (
              <DataTable
                rows={list.lockers}
                columns={columnsOf(base, currency)}
                rowKey={({ locker_id }) => locker_id}
                onOpen={({ locker_id }) => go(`${base}/${locker_id}`)}
                label="Lockers"
                minWidth={720}
                pager={<Pager pages={pages} nextCursor={list.next_cursor} />}
                empty={
                  <Empty title="No lockers yet">
                    A content locker covers part of your page; a link locker protects a link that you share.
                  </Empty>
                }
              />
            )}
          </Loaded>
        )}
      </Loaded>
    </Page>
  )
}

const columnsOf = (base: string, currency: string): Column<Locker>[] => [
  {
    name: 'Locker',
    isText: true,
    cell: ({ locker_id, settings: { name } }) => (
      <Anchor component={Link} size="sm" href={`${base}/${locker_id}`}>
        {name}
      </Anchor>
    ),
  },
  { name: 'ID', isNumber: true, cell: ({ locker_id }) => locker_id },
  { name: 'Kind', isShort: true, cell: ({ kind }) => KINDS[kind] },
  { name: 'Unlocks for', isShort: true, cell: (locker) => conditionOf(locker, currency) },
  { name: 'Views', isNumber: true, cell: ({ views }) => formatCount(views) },
  { name: 'Unlocks', isNumber: true, cell: ({ unlocks }) => formatCount(unlocks) },
  { name: 'Unlock rate', isNumber: true, cell: unlockRateOf },
  { name: 'Opened', isNumber: true, cell: openedOf },
  { name: 'Status', cell: (locker) => <Status value={stateOf(locker)} /> },
]
