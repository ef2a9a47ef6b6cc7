import { useGet } from '../../lib/queries.ts'
import { Empty, Loaded, Page } from '../../parts/page.tsx'
import { NO_PROPOSALS, ProposalTable, useProposalStatus } from '../../parts/proposals/table.tsx'

export default function Proposals() {
  const { status, pages, control } = useProposalStatus()
  const list = useGet('/offer-proposals', { query: { status, cursor: pages.cursor } })
  return (
    <Page
      title="Proposals"
      about="New offers and changes to offers, proposed by advertisers. They take effect once you approve them."
    >
      {control}
      <Loaded query={list}>
        {({ proposals, next_cursor }) => (
          <ProposalTable
            reader="operator"
            proposals={proposals}
            base="/network/proposals"
            pages={pages}
            nextCursor={next_cursor}
            empty={
              <Empty title={NO_PROPOSALS[status]}>
                Advertisers propose offers in their own section of the dashboard.
              </Empty>
            }
          />
        )}
      </Loaded>
    </Page>
  )
}
