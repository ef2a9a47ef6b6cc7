// What a network's callbacks mean beyond their words for statuses. Set with its feed.
import { isDeepStrictEqual } from 'node:util'
import type { Trx } from '../../db/open.ts'
import { NoSuch } from '../../errors.ts'
import { type Actor, recordAudit } from './audit.ts'

/** Calls with this parameter stand for nothing that is paid. */
export type IgnoredCall = { parameter: string; is: string; reason: string }

export type CallRules = {
  ignored?: IgnoredCall[]
  /** A goal that an offer with one goal does not have is that one, if the call pays as much. */
  only_goal?: boolean
}

/** Those of several networks hold together. */
export async function addCallRules(
  trx: Trx,
  by: Actor,
  advertiserId: number,
  { ignored = [], only_goal = false }: CallRules,
): Promise<void> {
  // prettier-ignore
  const advertiser = await trx.selectFrom('advertisers').select('call_rules').where('advertiser_id', '=', advertiserId).forNoKeyUpdate().executeTakeFirst() // prettier-ignore
  if (advertiser === undefined) throw new NoSuch('advertiser', advertiserId)
  const before = advertiser.call_rules as CallRules
  const isKnown = (one: IgnoredCall) => before.ignored?.some((each) => isDeepStrictEqual(each, one)) ?? false
  const more = ignored.filter((one) => !isKnown(one))
  const after: CallRules = {
    ...before,
    ...(more.length > 0 && { ignored: [...(before.ignored ?? []), ...more] }),
    ...(only_goal && { only_goal }),
  }
  if (isDeepStrictEqual(before, after)) return
  await trx.updateTable('advertisers').set({ call_rules: JSON.stringify(after) }).where('advertiser_id', '=', advertiserId).execute() // prettier-ignore
  await recordAudit(trx, by, { action: 'advertiser.change', subject: advertiserId, details: { changes: { call_rules: { before, after } } } }) // prettier-ignore
}
