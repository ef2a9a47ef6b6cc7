// Signals of fraud: what they mean, how often they are seen, and what is done about them.
import { Type } from 'typebox'
import { AppError } from '../../../errors.ts'
import {
  countSignals,
  deleteRule,
  listNetworkRules,
  listOfferRules,
  needsThreshold,
  setFraudRule,
  type Signal,
  SIGNALS,
} from '../../../features/conversions/fraud.ts'
import { beforeId, cutPage, ID_PAGE_QUERY } from '../../../http/paging.ts'
import type { ManageContext } from '../../context.ts'
import { notThere } from '../../gate.ts'
import type { ManageRoutes } from '../../route.ts'
import { OK, Ok } from '../../shapes.ts'
import { FraudOverview, NewRule, RuleParams, RuleQuery } from './schema.ts'

const TAG = 'Fraud'
const LIMIT = 20
const DAYS_MS = 30 * 86_400_000

const MEANINGS: Record<Signal, [meaning: string, thresholdOf: string | null]> = {
  too_fast: ['The conversion followed the click faster than humanly possible.', 'seconds between click and conversion'],
  ip_users: ['Many users converted from one IP address within a day.', 'users from one IP address within a day'],
  user_velocity: ['One user converted very often within an hour.', 'conversions by one user within an hour'],
  geo_mismatch: ['The user was in one country at the click and in another at the conversion.', null],
  listed_ip: ['The click came from an IP address on your list (LISTED_IPS).', null],
  bot: ['The click came from a bot, according to its User-Agent.', null],
  claimed_country: ['The page that showed the wall claimed a different country than the visitor’s.', null],
}

export function fraudRoutes(routes: ManageRoutes, { db }: ManageContext): void {
  routes.get('/fraud', {
    id: 'getFraud',
    summary: 'Get fraud signals and rules',
    about:
      'How often each signal was seen in the last 30 days, and the rules that apply: on each page those for all offers, then those for single offers, newest first.',
    tag: TAG,
    access: 'operator',
    query: Type.Object(ID_PAGE_QUERY),
    reply: FraudOverview,
    async run({ query: { cursor, limit = LIMIT } }) {
      const [ofNetwork, ofOffers, counts] = await Promise.all([
        listNetworkRules(db),
        listOfferRules(db, limit + 1, beforeId(cursor).before),
        countSignals(db, new Date(Date.now() - DAYS_MS)),
      ])
      const seen = new Map(counts.map(({ signal, offer_id, count }) => [`${signal} ${offer_id}`, count]))
      const { page, nextCursor } = cutPage(ofOffers, limit, (one) => String(one.fraud_rule_id))
      return {
        signals: SIGNALS.map((signal) => {
          const [meaning, threshold_of] = MEANINGS[signal]
          const ofSignal = counts.filter((one) => one.signal === signal)
          return { signal, meaning, threshold_of, seen: ofSignal.reduce((sum, { count }) => sum + count, 0) }
        }),
        rules: [...ofNetwork, ...page].map(({ signal, offerId, offer, threshold, action }) => ({
          signal,
          offer_id: offerId,
          offer,
          threshold,
          action,
          seen: seen.get(`${signal} ${offerId}`) ?? 0,
        })),
        next_cursor: nextCursor,
      }
    },
  })

  routes.put('/fraud/rules', {
    id: 'setFraudRule',
    summary: 'Set a fraud rule',
    about:
      'What happens to conversions with this signal: flag, hold or reject. For one offer, or for all offers without a rule.',
    tag: TAG,
    access: 'operator',
    body: NewRule,
    reply: Ok,
    async run({ body: { signal, offer_id: offerId = null, threshold = null, action }, by }) {
      if (needsThreshold(signal) && threshold === null)
        throw new AppError('INVALID_REQUEST', `The signal ${signal} needs a threshold.`, {
          threshold: 'threshold must be a whole number, 1 or more.',
        })
      const rule = { signal, offerId, threshold, action }
      await setFraudRule(db, by, rule)
      return OK
    },
  })

  routes.delete('/fraud/rules/:signal', {
    id: 'deleteFraudRule',
    summary: 'Delete a fraud rule',
    about: 'The rule of an offer, or of the network without `offer_id`.',
    tag: TAG,
    access: 'operator',
    params: RuleParams,
    query: RuleQuery,
    reply: Ok,
    async run({ params, query: { offer_id: offerId = null }, by }) {
      const signal = SIGNALS.find((one) => one === params.signal)
      if (signal === undefined) throw notThere('There is no such signal.')
      if (!(await deleteRule(db, by, { signal, offerId }))) throw notThere('There is no such rule.')
      return OK
    },
  })
}
