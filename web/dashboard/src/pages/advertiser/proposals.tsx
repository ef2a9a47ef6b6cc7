import { useParams } from 'wouter'
import { useGet } from '../../lib/queries.ts'
import { Empty, Loaded, Page } from '../../parts/page.tsx'
import { NO_PROPOSALS, ProposalTable, useProposalStatus } from '../../parts/proposals/table.tsx'

export default function Proposals() {
  const { advertiser_id } = useParams<{ advertiser_id: string }>()
  const base = `/advertisers/${advertiser_id}/proposals` as const
  const { status, pages, control } = useProposalStatus()
  const list = useGet(base, { query: { status, cursor: pages.cursor } })
  return (
    <Page
      title="Proposals"
      about="New offers and changes to your offers. They take effect once the operator approves them."
    >
      {control}
      <Loaded query={list}>
        {({ proposals, next_cursor }) => (
          <ProposalTable
            reader="advertiser"
            proposals={proposals}
            base={base}
            pages={pages}
            nextCursor={next_cursor}
            empty={<Empty title={NO_PROPOSALS[status]}>Propose a new offer, or changes on an offer’s page.</Empty>}
          />
        )}
      </Loaded>
    </Page>
  )
}
