import { Anchor } from '@mantine/core'
import { Link } from 'wouter'
import type { Schemas } from '../../lib/api-types.ts'
import { TICKET_KINDS } from '../../lib/words.ts'
import { userPath } from '../../lib/user-path.ts'
import { type Column, DataTable } from '../data-table.tsx'
import { Status } from '../status.tsx'
import { Time } from '../time.tsx'

type Ticket = Schemas['TicketList']['tickets'][number]

type TableProps = {
  appId: string
  tickets: Ticket[]
  /** On the page of a user, whose tickets all are. */ isOfUser?: boolean
}

export function TicketTable({ appId, tickets, isOfUser = false }: TableProps) {
  return (
    <DataTable
      rows={tickets}
      columns={columnsOf(appId, isOfUser)}
      rowKey={({ ticket_id }) => ticket_id}
      label="Tickets"
      isPlain={isOfUser}
    />
  )
}

const columnsOf = (appId: string, isOfUser: boolean): (Column<Ticket> | false)[] => [
  {
    name: 'Ticket',
    isText: true,
    cell: ({ ticket_id, kind, offer_name }) => (
      <Anchor component={Link} size="sm" href={`/apps/${appId}/tickets/${ticket_id}`}>
        {[TICKET_KINDS[kind], offer_name].filter((word) => word !== null).join(': ')}
      </Anchor>
    ),
  },
  !isOfUser && {
    name: 'User',
    isText: true,
    cell: ({ user_id }) => (
      <Anchor component={Link} size="sm" href={userPath(appId, user_id)}>
        {user_id}
      </Anchor>
    ),
  },
  { name: 'Status', cell: ({ status }) => <Status value={status} /> },
  { name: 'Opened', cell: ({ created_at }) => <Time at={created_at} ago /> },
  { name: 'Last change', cell: ({ updated_at }) => <Time at={updated_at} ago /> },
]
