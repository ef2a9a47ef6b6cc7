// What a network's callbacks mean beyond their words for statuses. Set with its feed, or by an operator.
import { isDeepStrictEqual } from 'node:util'
import type { Trx } from '../../db/open.ts'
import { NoSuch } from '../../errors.ts'
import { type Actor, recordAudit } from './audit.ts'
import { isParameterName, isWord, MAX_WORD, notAParameter } from './call-words.ts'

/** Calls with this parameter stand for nothing that is paid. */
export type IgnoredCall = { parameter: string; is: string; reason: string }

export type CallRules = {
  ignored?: IgnoredCall[]
  /** A goal that an offer with one goal does not have is that one, if the call pays as much. */
  only_goal?: boolean
}

/** More than a network has, and few enough to go through for every call. */
export const MOST_IGNORED = 50
const MAX_REASON = 200

/** Calls are compared with it in any case. */
export const isSameRule = (a: IgnoredCall, b: IgnoredCall) =>
  a.parameter === b.parameter && a.is.toLowerCase() === b.is.toLowerCase()

/** As short as they can be said; every problem is reported. */
export function readCallRules(
  { ignored = [], only_goal = false }: CallRules,
  report: (message: string) => void,
): CallRules {
  if (ignored.length > MOST_IGNORED) report(`At most ${MOST_IGNORED} rules are allowed.`)
  const rules = ignored.map(({ parameter, is, reason }) => ({ parameter: parameter.trim(), is: is.trim(), reason: reason.trim() })) // prettier-ignore
  for (const [i, rule] of rules.entries()) {
    const { parameter, is, reason } = rule
    if (!isParameterName(parameter)) report(notAParameter(parameter))
    // It is masked in the log: a call that is processed again would not be ignored any more.
    if (parameter === 'token') report('A rule cannot use the token.')
    if (!isWord(is)) report(`"${is}" is not a value of 1 to ${MAX_WORD} characters.`)
    if (reason === '' || reason.length > MAX_REASON) report(`A reason must have 1 to ${MAX_REASON} characters.`)
    if (rules.findIndex((one) => isSameRule(one, rule)) < i) report(`There are two rules for ${parameter} = ${is}.`)
  }
  return { ...(rules.length > 0 && { ignored: rules }), ...(only_goal && { only_goal }) }
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
  const isKnown = (one: IgnoredCall) => before.ignored?.some((each) => isSameRule(each, one)) ?? false
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
