import { Button, Modal, Text } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { modals } from '@mantine/modals'
import type { Schemas } from '../../lib/api-types.ts'
import { remove } from '../../lib/api.ts'
import { mayWrite, useMe } from '../../lib/me.ts'
import { useChange, useGet } from '../../lib/queries.ts'
import { useFilters } from '../../lib/use-filters.ts'
import { BanForm } from '../../parts/ban-form.tsx'
import { type Column, DataTable } from '../../parts/data-table.tsx'
import { Empty, Loaded, Page } from '../../parts/page.tsx'
import { Pager, usePages } from '../../parts/pager.tsx'
import { SearchInput } from '../../parts/search-input.tsx'
import { Time } from '../../parts/time.tsx'

type List = Schemas['BanList']
type Ban = List['bans'][number]

export default function Bans() {
  const [filters, setFilters] = useFilters()
  const pages = usePages()
  const [isOpen, { open, close }] = useDisclosure()
  const bans = useGet('/bans', { query: { user_id: filters['user'], cursor: pages.cursor } })
  const canWrite = mayWrite(useMe())
  const lift = useChange((id: number) => remove(`/bans/${id}`), { refresh: ['/bans'], done: 'Ban lifted.' })
  const askToLift = (ban: Ban) =>
    modals.openConfirmModal({
      title: 'Lift this ban?',
      children: <Text size="sm">{ban.user_id} will see offers again and can be rewarded for them.</Text>,
      labels: { confirm: 'Lift ban', cancel: 'Cancel' },
      onConfirm: () => lift.mutate(ban.ban_id),
    })
  return (
    <Page
      title="Banned users"
      about="Banned users see no offers, and their conversions are rejected."
      actions={canWrite && <Button onClick={open}>Ban a user</Button>}
    >
      <Modal opened={isOpen} onClose={close} title="Ban a user">
        <BanForm onDone={close} />
      </Modal>
      <SearchInput
        label="User ID"
        maw={320}
        maxLength={256}
        value={filters['user']}
        onChange={(user) => {
          pages.reset()
          setFilters({ user })
        }}
      />
      <Loaded query={bans}>
        {(list) => (
          <DataTable
            rows={list.bans}
            columns={[...COLUMNS, canWrite && liftColumn(askToLift)]}
            rowKey={({ ban_id }) => ban_id}
            pager={<Pager pages={pages} nextCursor={list.next_cursor} />}
            empty={
              filters['user'] === undefined ? (
                <Empty title="No banned users">Ban users who cheat, in one app or in all.</Empty>
              ) : (
                <Empty title="No ban matches">Enter the full user ID, as the publisher sends it.</Empty>
              )
            }
          />
        )}
      </Loaded>
    </Page>
  )
}

const COLUMNS: Column<Ban>[] = [
  { name: 'User', isText: true, cell: ({ user_id }) => user_id },
  { name: 'App', isText: true, cell: ({ app, app_id }) => (app === null ? 'every app' : `${app} (${app_id})`) },
  { name: 'Reason', isText: true, cell: ({ reason }) => reason },
  { name: 'Banned', cell: ({ created_at }) => <Time at={created_at} ago /> },
]

const liftColumn = (ask: (ban: Ban) => void): Column<Ban> => ({
  name: 'Actions',
  cell: (ban) => (
    <Button size="xs" variant="default" onClick={() => ask(ban)} aria-label={`Lift the ban on ${ban.user_id}`}>
      Lift
    </Button>
  ),
})
