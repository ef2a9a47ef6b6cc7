import { Anchor, Stack } from '@mantine/core'
import { Link, useParams } from 'wouter'
import { useMode } from '../../lib/mode.ts'
import { useGet } from '../../lib/queries.ts'
import { TICKET_STATUSES } from '../../lib/statuses.ts'
import { useFilters } from '../../lib/use-filters.ts'
import { choicesOf, oneOf } from '../../lib/words.ts'
import { FilterBar } from '../../parts/filter-bar.tsx'
import { FilterSelect } from '../../parts/filter-select.tsx'
import { Empty, Loaded, Page } from '../../parts/page.tsx'
import { Pager, usePages } from '../../parts/pager.tsx'
import { SearchInput } from '../../parts/search-input.tsx'
import { countText } from '../../parts/tickets/open-tickets.tsx'
import { TicketTable } from '../../parts/tickets/ticket-table.tsx'

const LOOK_AGAIN_MS = 10_000 // users write meanwhile

export default function Tickets() {
  const { app_id } = useParams<{ app_id: string }>()
  return <TicketsOf key={`${app_id} ${useMode()}`} appId={app_id} />
}

function TicketsOf({ appId }: { appId: string }) {
  const mode = useMode()
  const [{ status, user_id }, setFilters] = useFilters()
  const pages = usePages()
  const change = (changed: Record<string, string | null>) => {
    pages.reset()
    setFilters(changed)
  }
  const query = { mode, status: oneOf(TICKET_STATUSES, status), user_id, cursor: pages.cursor }
  const list = useGet(`/apps/${appId}/tickets`, { query, everyMs: LOOK_AGAIN_MS })
  return (
    <Page title={titleOf(list.data?.open ?? 0)} about="Questions from users of your wall, newest first.">
      <FilterBar
        label="Tickets"
        filters={{ ...(status === undefined ? {} : { status }), ...(user_id === undefined ? {} : { user_id }) }}
        change={change}
        searchName="user_id"
        names={['status']}
        search={
          <SearchInput
            label="User"
            placeholder="User ID"
            maxLength={256}
            value={user_id}
            onChange={(user) => change({ user_id: user })}
          />
        }
      >
        <FilterSelect
          label="Status"
          data={choicesOf(TICKET_STATUSES)}
          value={status}
          onChange={(chosen) => change({ status: chosen })}
        />
      </FilterBar>
      <Loaded query={list}>
        {({ tickets, next_cursor }) =>
          tickets.length === 0 && pages.back === null ? (
            <Nothing appId={appId} isFiltered={status !== undefined || user_id !== undefined} />
          ) : (
            <Stack>
              <TicketTable appId={appId} tickets={tickets} />
              <Pager pages={pages} nextCursor={next_cursor} />
            </Stack>
          )
        }
      </Loaded>
    </Page>
  )
}

const titleOf = (open: number) => (open === 0 ? 'Tickets' : `Tickets (${countText(open)} open)`)

function Nothing({ appId, isFiltered }: { appId: string; isFiltered: boolean }) {
  const mode = useMode()
  const wall = useGet(isFiltered ? null : `/apps/${appId}/wall`)
  if (isFiltered) return <Empty title="No tickets match">Clear a filter.</Empty>
  return (
    <Loaded query={wall}>
      {({ shows }) => (
        <Empty title={mode === 'test' ? 'No test tickets yet' : 'No tickets yet'}>
          {shows.support ? (
            'Tickets appear here when signed users of your wall ask for help.'
          ) : (
            <>
              Help is off on your wall. Turn on “Help: tickets of signed users” in the{' '}
              <Anchor component={Link} href={`/apps/${appId}/wall`} inherit underline="always">
                wall settings
              </Anchor>
              .
            </>
          )}
        </Empty>
      )}
    </Loaded>
  )
}
