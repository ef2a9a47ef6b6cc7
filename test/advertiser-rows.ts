import { createConversion, type Deal } from './conversion-rows.ts'
import { pngOf } from './images.ts'
import { createPerson } from './people.ts'
import type { World } from './world.ts'

type Step = readonly [id: string, method: string, path: string, body?: unknown]

/** One that is withdrawn, one that is refused, one that is approved. */
const proposals = (advertiser: string, offerId: number): Step[] =>
  (
    [
      ['withdrawProposal', `${advertiser}/proposals/LATEST_PROPOSAL/withdraw`],
      ['refuseOfferProposal', '/offer-proposals/LATEST_PROPOSAL/refuse', { reason: 'No.' }],
      ['approveOfferProposal', '/offer-proposals/LATEST_PROPOSAL/approve', {}],
    ] as const
  ).flatMap(([id, path, body]) => [
    ['proposeOffer', 'POST', `${advertiser}/proposals`, { offer_id: offerId, name: `Proposed to ${id}` }],
    [id, 'POST', path, body],
  ])

/** Every operation by which an advertiser's people, or the operator for them, change something. */
export async function advertiserSteps(world: World, deal: Deal): Promise<Step[]> {
  const { advertiserId, offerId } = deal
  const advertiser = `/advertisers/${advertiserId}`
  const person = await createPerson(world, 'advertiser', { publisherId: null, advertiserId })
  const { conversionId } = await createConversion(world, deal, { status: 'pending', payoutMicros: 1, revenueMicros: 1, at: new Date() }) // prettier-ignore
  await world.database.db.updateTable('conversions').set({ advertiser_transaction_id: 'decided' }).where('conversion_id', '=', conversionId).execute() // prettier-ignore
  return [
    ['applyDecisions', 'POST', `${advertiser}/decisions`, { csv: 'transaction_id,status\ndecided,rejected\n' }],
    ['createAdvertiser', 'POST', '/advertisers', { name: 'New' }],
    ['changeAdvertiser', 'PATCH', advertiser, { allowed_ips: ['192.0.2.1'] }],
    ['changeAdvertiserBudget', 'PATCH', `${advertiser}/budget`, { daily: 500 }],
    ['rotateAdvertiserToken', 'POST', `${advertiser}/rotate-token`, { grace: '1h' }],
    ['inviteOfAdvertiser', 'POST', `${advertiser}/invitations`, { email: 'c@example.com', role: 'advertiser' }],
    ['revokeInvitationOfAdvertiser', 'DELETE', `${advertiser}/invitations/LATEST_INVITATION`],
    ['changePersonOfAdvertiser', 'PATCH', `${advertiser}/people/${person.id}`, { disabled: true }],
    ['pauseOfferOfAdvertiser', 'POST', `${advertiser}/offers/${offerId}/pause`],
    ['resumeOfferOfAdvertiser', 'POST', `${advertiser}/offers/${offerId}/resume`],
    ['startAdvertiserTest', 'POST', `${advertiser}/postback-tests`, { offer_id: offerId }],
    ['uploadProposedImage', 'POST', `${advertiser}/images`, { content: pngOf(3, 3).toString('base64') }],
    ...proposals(advertiser, offerId),
    ['setAllowedIps', 'PUT', `${advertiser}/allowed-ips`, { allowed_ips: ['192.0.2.9'] }],
  ]
}
