// What an advertiser proposes: new offers, and changes of its own. An operator decides.
import { AppError, badRequest } from '../../../errors.ts'
import { storeImage } from '../../../features/offers/images.ts'
import { findProposal, listProposals, propose, withdrawProposal } from '../../../features/offers/proposals/proposals.ts'
import { listProposed } from '../../../features/offers/proposals/proposed-fields.ts'
import { beforeId, cutPage } from '../../../http/paging.ts'
import { MAX_IMAGE_BYTES } from '../../../lib/image-format.ts'
import { findAdvertiserOf } from '../../advertiser-record.ts'
import type { ManageContext } from '../../context.ts'
import { Image, NewImage } from '../../image-shapes.ts'
import { presentProposal } from '../../proposal-shapes.ts'
import type { ManageRoutes } from '../../route.ts'
import { AdvertiserParams, OK, Ok } from '../../shapes.ts'
import { getOwnOffer } from '../own.ts'
import { CreatedProposal, NewProposal, OwnProposal, OwnProposalList, OwnProposalParams, OwnProposalSearch } from './schema.ts' // prettier-ignore

const TAG = 'Advertiser account'
const LIMIT = 20
const UPLOADS_A_MINUTE = 10

export function advertiserProposalRoutes(routes: ManageRoutes, { db, limiter, sendMails }: ManageContext): void {
  routes.get('/advertisers/:advertiser_id/proposals', {
    id: 'listProposalsOfAdvertiser',
    summary: 'List the proposals of an advertiser',
    about: 'New offers and changes to offers that it proposed, with the operator’s decisions.',
    tag: TAG,
    access: 'advertiser',
    params: AdvertiserParams,
    query: OwnProposalSearch,
    reply: OwnProposalList,
    async run({ params: { advertiser_id: advertiserId }, query: { limit = LIMIT, cursor, status } }) {
      await findAdvertiserOf(db, advertiserId)
      const filter = { advertiserId, ...(status === undefined ? {} : { status }), ...beforeId(cursor) }
      const { page, nextCursor } = cutPage(await listProposals(db, filter, limit + 1), limit, (one) => String(one.proposal_id)) // prettier-ignore
      return { proposals: page.map(presentProposal), next_cursor: nextCursor }
    },
  })

  routes.post('/advertisers/:advertiser_id/proposals', {
    id: 'proposeOffer',
    summary: 'Propose an offer, or a change of one',
    about:
      'Nothing changes before the operator approves it. With offer_id, fields that you leave out stay as they are. The operator sets what publishers are paid.',
    tag: TAG,
    access: 'advertiser',
    params: AdvertiserParams,
    body: NewProposal,
    reply: CreatedProposal,
    async run({ params: { advertiser_id: advertiserId }, body: { offer_id: offerId, external_id, ...fields }, by }) {
      await findAdvertiserOf(db, advertiserId)
      if (offerId !== undefined) await getOwnOffer(db, advertiserId, offerId)
      if ((offerId === undefined) === (external_id === undefined))
        throw badRequest({ external_id: 'Give the offer_id of your offer, or the external_id of a new one.' })
      const proposal = {
        advertiserId,
        fields,
        ...(offerId === undefined ? { externalId: external_id ?? '' } : { offerId }),
      }
      const proposalId = await propose(db, by, proposal, new Date())
      sendMails?.()
      return { proposal_id: proposalId }
    },
  })

  routes.get('/advertisers/:advertiser_id/proposals/:proposal_id', {
    id: 'getProposalOfAdvertiser',
    summary: 'Get a proposal of an advertiser',
    about: 'What it would change, and what the operator decided.',
    tag: TAG,
    access: 'advertiser',
    params: OwnProposalParams,
    reply: OwnProposal,
    async run({ params: { advertiser_id, proposal_id } }) {
      const proposal = await findProposal(db, proposal_id, advertiser_id)
      const changes = listProposed(proposal).map(({ field, before, after }) => ({ field, before, after }))
      return { ...presentProposal(proposal), changes }
    },
  })

  routes.post('/advertisers/:advertiser_id/proposals/:proposal_id/withdraw', {
    id: 'withdrawProposal',
    summary: 'Withdraw a proposal',
    about: 'Only while it is waiting.',
    tag: TAG,
    access: 'advertiser',
    params: OwnProposalParams,
    reply: Ok,
    async run({ params: { advertiser_id, proposal_id }, by }) {
      await withdrawProposal(db, by, advertiser_id, proposal_id)
      return OK
    },
  })

  routes.post('/advertisers/:advertiser_id/images', {
    id: 'uploadProposedImage',
    summary: 'Upload a picture to propose',
    about: 'Stores a picture and returns its path, an `image_url` for proposals. SVG is refused.',
    tag: TAG,
    access: 'advertiser',
    params: AdvertiserParams,
    body: NewImage,
    reply: Image,
    bodyLimit: 2 * MAX_IMAGE_BYTES, // base64 is longer
    async run({ params: { advertiser_id }, by, body }) {
      await findAdvertiserOf(db, advertiser_id)
      const { exceeded } = await limiter.take(`images:advertiser:${advertiser_id}`, UPLOADS_A_MINUTE)
      if (exceeded) throw new AppError('RATE_LIMIT_EXCEEDED', 'Too many uploads. Wait a minute, then try again.')
      return storeImage(db, by, Buffer.from(body.content, 'base64'))
    },
  })
}
