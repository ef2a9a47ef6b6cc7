// Approving and reversing many conversions by a file of transaction IDs.
import { applyDecisions, type Decision, planDecisions } from '../../../features/conversions/inbound/decisions.ts'
import type { ManageContext } from '../../context.ts'
import { AdvertiserParams } from '../../shapes.ts'
import type { ManageRoutes } from '../../route.ts'
import { findAdvertiserOf } from '../../advertiser-record.ts'
import { DecisionFile, DecisionList } from './schema.ts'

const TAG = 'Advertiser account'
const BODY_LIMIT = 1_100_000

export function decisionRoutes(routes: ManageRoutes, { db, applyCommand }: ManageContext): void {
  routes.post('/advertisers/:advertiser_id/decisions/preview', {
    id: 'previewDecisions',
    summary: 'Preview decisions about conversions',
    about: 'What a CSV file with the columns transaction_id and status would do, row by row. Nothing is changed.',
    tag: TAG,
    access: 'advertiser',
    changesNothing: true,
    bodyLimit: BODY_LIMIT,
    params: AdvertiserParams,
    body: DecisionFile,
    reply: DecisionList,
    async run({ params: { advertiser_id }, body: { csv } }) {
      await findAdvertiserOf(db, advertiser_id)
      return present(await planDecisions(db, advertiser_id, csv))
    },
  })

  routes.post('/advertisers/:advertiser_id/decisions', {
    id: 'applyDecisions',
    summary: 'Approve, reject and reverse conversions',
    about: 'Each row counts as a callback, so a file that is sent twice changes nothing.',
    tag: TAG,
    access: 'advertiser',
    bodyLimit: BODY_LIMIT,
    params: AdvertiserParams,
    body: DecisionFile,
    reply: DecisionList,
    async run({ params: { advertiser_id }, body: { csv }, by }) {
      await findAdvertiserOf(db, advertiser_id)
      return present(await applyDecisions(db, by, applyCommand, advertiser_id, csv))
    },
  })
}

const present = (decisions: readonly Decision[]) => ({
  changes: decisions.filter(({ result }) => result === 'changes').length,
  rows: decisions.map(({ transactionId, conversionId, ...rest }) => ({
    transaction_id: transactionId,
    conversion_id: conversionId,
    ...rest,
  })),
})
