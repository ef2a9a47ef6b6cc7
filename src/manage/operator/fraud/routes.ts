// Signals of fraud: what they mean, how often they are seen, and what is done about them.
import { AppError } from '../../../errors.ts'
import {
  countSignals,
  deleteRule,
  needsThreshold,
  readFraudRules,
  readRuleOffers,
  setFraudRule,
  type Signal,
  SIGNALS,
} from '../../../features/conversions/fraud.ts'
import type { ManageContext } from '../../context.ts'
import { notThere } from '../../gate.ts'
import type { ManageRoutes } from '../../route.ts'
import { OK, Ok } from '../../shapes.ts'
import { FraudOverview, NewRule, RuleParams, RuleQuery } from './schema.ts'

const TAG = 'Fraud'
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
    about: 'How often each signal was seen in the last 30 days, and the rules that apply.',
    tag: TAG,
    access: 'operator',
    reply: FraudOverview,
    async run() {
      const [rules, offers, counts] = await Promise.all([
        readFraudRules(db),
        readRuleOffers(db),
        countSignals(db, new Date(Date.now() - DAYS_MS)),
      ])
      const seenOf = (signal: Signal, isCounted: (offerId: number) => boolean) =>
        counts
          .filter((one) => one.signal === signal && isCounted(one.offer_id))
          .reduce((sum, { count }) => sum + count, 0)
      const hasOwn = (signal: Signal, offerId: number) =>
        rules.some((rule) => rule.signal === signal && rule.offerId === offerId)
      return {
        signals: SIGNALS.map((signal) => {
          const [meaning, threshold_of] = MEANINGS[signal]
          return { signal, meaning, threshold_of, seen: seenOf(signal, () => true) }
        }),
        rules: rules.map(({ signal, offerId, threshold, action }) => ({
          signal,
          offer_id: offerId,
          offer: offerId === null ? null : (offers.get(offerId) ?? null),
          threshold,
          action,
          seen: seenOf(signal, (id) => (offerId === null ? !hasOwn(signal, id) : id === offerId)),
        })),
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
