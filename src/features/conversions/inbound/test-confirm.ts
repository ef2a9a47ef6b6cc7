// Acts as the advertiser of a test click, so that a publisher can test the whole path without one.
import { sql } from 'kysely'
import type { Db } from '../../../db/open.ts'
import { NoSuch, OperatorError } from '../../../errors.ts'
import { isUuid, uuid7 } from '../../../lib/uuid7.ts'
import type { InboundCall } from './inbound-call.ts'
import { type CallResult, reprocessCall } from './confirm.ts'

/** `parameters` are those of a real confirmation, without click_id and token. */
export async function confirmTestClick(
  db: Db,
  clickId: string,
  parameters: Record<string, string>,
  now: Date,
): Promise<CallResult> {
  const advertiserId = await findTestAdvertiser(db, clickId)
  const call: InboundCall = {
    inboundId: uuid7(now.getTime()),
    receivedAt: now,
    advertiserId,
    method: 'TEST',
    query: new URLSearchParams({ click_id: clickId, ...parameters }).toString(),
    body: '',
    isCut: false,
    ip: null,
    clickId,
    attempts: 0,
    before: null,
  }
  return reprocessCall(db, call, { countryOf: () => null, now })
}

async function findTestAdvertiser(db: Db, clickId: string): Promise<number> {
  const { rows } = isUuid(clickId)
    ? await sql<{ is_test: boolean; advertiser_id: number }>`
        SELECT is_test, advertiser_id FROM clicks JOIN offers USING (offer_id) WHERE click_id = ${clickId}`.execute(db)
    : { rows: [] }
  const [click] = rows
  if (click === undefined) throw new NoSuch('click', clickId)
  if (!click.is_test)
    throw new OperatorError(
      'This click is live: only its advertiser can confirm it. Follow a link created with test credentials.',
    )
  return click.advertiser_id
}
