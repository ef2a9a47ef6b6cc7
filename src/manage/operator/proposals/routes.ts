// The operator's queue of what advertisers propose.
import { approveProposal, refuseProposal, reviewProposal } from '../../../features/offers/proposals/decide.ts'
import { listProposals, type Proposal } from '../../../features/offers/proposals/proposals.ts'
import { beforeId, cutPage } from '../../../http/paging.ts'
import { parseTime } from '../../../lib/time.ts'
import type { ManageContext } from '../../context.ts'
import { presentProposal } from '../../proposal-shapes.ts'
import type { ManageRoutes } from '../../route.ts'
import { OK, Ok } from '../../shapes.ts'
import { ChangedOffer } from '../offers/schema.ts'
import { ApprovedProposal, ProposalList, ProposalParams, ProposalRefusal, ProposalSearch, ReviewedProposal } from './schema.ts' // prettier-ignore

const TAG = 'Offers of the network'
const LIMIT = 20

const present = (proposal: Proposal) => {
  const { advertiser_id, advertiser, decided_by } = proposal
  return { ...presentProposal(proposal), advertiser_id, advertiser, decided_by }
}

export function proposalRoutes(routes: ManageRoutes, { db, refresh, sendMails }: ManageContext): void {
  routes.get('/offer-proposals', {
    id: 'listOfferProposals',
    summary: 'List proposals of advertisers',
    about: 'New offers and changes to offers, proposed by advertisers.',
    tag: TAG,
    access: 'operator',
    query: ProposalSearch,
    reply: ProposalList,
    async run({ query: { limit = LIMIT, cursor, status, advertiser_id } }) {
      const filter = {
        ...(advertiser_id === undefined ? {} : { advertiserId: advertiser_id }),
        ...(status === undefined ? {} : { status }),
        ...beforeId(cursor),
      }
      const { page, nextCursor } = cutPage(await listProposals(db, filter, limit + 1), limit, (one) => String(one.proposal_id)) // prettier-ignore
      return { proposals: page.map(present), next_cursor: nextCursor }
    },
  })

  routes.get('/offer-proposals/:proposal_id', {
    id: 'getOfferProposal',
    summary: 'Get a proposal of an advertiser, for review',
    about: 'What it would change in the current offer, field by field.',
    tag: TAG,
    access: 'operator',
    params: ProposalParams,
    reply: ReviewedProposal,
    async run({ params: { proposal_id } }) {
      const reviewed = await reviewProposal(db, proposal_id)
      const { changes, record, problem, has_moved, warnings, seen_updated_at } = reviewed
      return { ...present(reviewed), changes, record, problem, has_moved, warnings, seen_updated_at }
    },
  })

  routes.post('/offer-proposals/:proposal_id/approve', {
    id: 'approveOfferProposal',
    summary: 'Approve a proposal',
    about:
      'Writes the proposed fields to the offer, overridden by the fields that you send, such as the payouts of new goals. Send all goals or none. The advertiser is mailed.',
    tag: TAG,
    access: 'operator',
    params: ProposalParams,
    body: ChangedOffer,
    reply: ApprovedProposal,
    async run({ params: { proposal_id }, body: { seen_updated_at, ...fields }, by }) {
      const seen = seen_updated_at === undefined ? {} : { seen: parseTime(seen_updated_at) }
      const offerId = await approveProposal(db, by, proposal_id, { fields, ...seen }, new Date())
      sendMails?.()
      await refresh()
      return { offer_id: offerId }
    },
  })

  routes.post('/offer-proposals/:proposal_id/refuse', {
    id: 'refuseOfferProposal',
    summary: 'Refuse a proposal',
    about: 'The offer stays as it is. The advertiser is mailed with the reason.',
    tag: TAG,
    access: 'operator',
    params: ProposalParams,
    body: ProposalRefusal,
    reply: Ok,
    async run({ params: { proposal_id }, body: { reason }, by }) {
      await refuseProposal(db, by, proposal_id, reason, new Date())
      sendMails?.()
      return OK
    },
  })
}
