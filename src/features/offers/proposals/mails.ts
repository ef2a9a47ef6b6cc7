// What is mailed about proposals: the queue to operators, the decision to the advertiser's people.
import type { Trx } from '../../../db/open.ts'
import { findOperators, type Network, type Writer } from '../../accounts/mails.ts'
import { countWaiting } from './proposals.ts'

export const proposalsWaitingWriter = ({ publicUrl }: Pick<Network, 'publicUrl'>): Writer => ({
  findRecipients: findOperators,
  async write(trx) {
    const count = await countWaiting(trx)
    if (count === 0) return null
    const subject =
      count === 1
        ? 'An advertiser proposal is waiting for review'
        : `${count} advertiser proposals are waiting for review`
    return { subject, text: `${subject}.\n\nReview proposals: ${publicUrl}/network/proposals\n` }
  },
})

/** To all people of the advertiser who can sign in: the one who proposed it may have left. */
export const proposalDecisionWriter = ({ publicUrl }: Pick<Network, 'publicUrl'>): Writer => ({
  async findRecipients(trx, about) {
    const proposal = await find(trx, about)
    if (proposal === undefined) return []
    const people = trx.selectFrom('people').select('email').where('advertiser_id', '=', proposal.advertiser_id)
    const found = await people.where('disabled_at', 'is', null).orderBy('created_at').execute()
    return found.map(({ email }) => email)
  },
  async write(trx, about) {
    const proposal = await find(trx, about)
    if (proposal === undefined) return null
    const { proposal_id, advertiser_id, external_id, is_new, status, reason } = proposal
    const what = is_new ? `Your new offer ${external_id}` : `Your change to the offer ${external_id}`
    const why = reason === null ? '' : `\n\nThe operator wrote:\n${reason}`
    return {
      subject: `${what} was ${status}`,
      text: `${what} was ${status}.${why}\n\nDetails: ${publicUrl}/advertisers/${advertiser_id}/proposals/${proposal_id}\n`,
    }
  },
})

const find = (trx: Trx, about: string) =>
  trx
    .selectFrom('offer_proposals')
    .select(['proposal_id', 'advertiser_id', 'external_id', 'is_new', 'status', 'reason'])
    .where('proposal_id', '=', Number(about))
    .executeTakeFirst()
