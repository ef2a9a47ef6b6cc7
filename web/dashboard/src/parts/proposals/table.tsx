// Proposals of advertisers: those that wait for a decision, and those that were decided.
import { Anchor, Text } from '@mantine/core'
import type { ReactNode } from 'react'
import { Link, useLocation } from 'wouter'
import type { Schemas } from '../../lib/api-types.ts'
import { type ProposalStatus, PROPOSAL_STATUSES } from '../../lib/statuses.ts'
import { type Column, DataTable } from '../data-table.tsx'
import { Pager } from '../pager.tsx'
import { useQueueStatus } from '../queue-status.tsx'
import { Status } from '../status.tsx'
import { Time } from '../time.tsx'
import type { Reader } from '../network-offers/values.ts'
import { fieldName } from './changes.tsx'

type Proposal = Schemas['AdvertiserProposalList']['proposals'][number] & { advertiser?: string }

export const useProposalStatus = () => useQueueStatus(PROPOSAL_STATUSES)

type ProposalTableProps = {
  reader: Reader
  proposals: Proposal[]
  /** What their pages begin with. */
  base: string
  pages: ReturnType<typeof useProposalStatus>['pages']
  nextCursor: string | null
  empty: ReactNode
}

export function ProposalTable({ reader, proposals, base, pages, nextCursor, empty }: ProposalTableProps) {
  const [, navigate] = useLocation()
  const pathOf = ({ proposal_id }: Proposal) => `${base}/${proposal_id}`
  const columns: Column<Proposal>[] = [
    {
      name: 'Offer',
      isText: true,
      cell: (proposal) => (
        <>
          <Anchor component={Link} href={pathOf(proposal)} size="sm">
            {proposal.name}
          </Anchor>
          <Text size="xs" c="dimmed">
            {proposal.external_id}
          </Text>
        </>
      ),
    },
    ...(proposals.some(({ advertiser }) => advertiser !== undefined)
      ? [{ name: 'Advertiser', isText: true, cell: ({ advertiser }: Proposal) => advertiser }]
      : []),
    { name: 'Proposes', isText: true, cell: ({ is_new, fields }) => (is_new ? 'New offer' : fields.map((field) => fieldName(field, reader)).join(', ')) }, // prettier-ignore
    { name: 'Status', cell: ({ status }) => <Status value={status} /> },
    { name: 'Proposed', cell: ({ created_at }) => <Time at={created_at} ago /> },
  ]
  return (
    <DataTable
      rows={proposals}
      columns={columns}
      rowKey={({ proposal_id }) => proposal_id}
      label="Proposals"
      minWidth={720}
      onOpen={(proposal) => navigate(pathOf(proposal))}
      pager={<Pager pages={pages} nextCursor={nextCursor} />}
      empty={empty}
    />
  )
}

export const NO_PROPOSALS: Record<ProposalStatus, string> = {
  waiting: 'No proposals are waiting',
  approved: 'No proposals were approved',
  refused: 'No proposals were refused',
  withdrawn: 'No proposals were withdrawn',
}
