// Fraud signals, and the rules that act on them. An offer's rule takes precedence over the network's rule for the same
// signal.
import { sql } from 'kysely'
import { type Db, inTransaction, type Trx } from '../../db/open.ts'
import { NoSuch, OperatorError } from '../../errors.ts'
import { uuid7Floor } from '../../lib/uuid7.ts'
import { type Actor, recordAudit } from '../accounts/audit.ts'

export const SIGNALS = [
  'too_fast',
  'ip_users',
  'user_velocity',
  'geo_mismatch',
  'listed_ip',
  'bot',
  'claimed_country',
] as const
export type Signal = (typeof SIGNALS)[number]
export const ACTIONS = ['flag', 'hold', 'reject'] as const
export type Action = (typeof ACTIONS)[number]

export type FraudRule = { offerId: number | null; signal: Signal; threshold: number | null; action: Action }

/** What the rules look at. */
export type Evidence = {
  /** Null without a click. */
  secondsFromClick: number | null
  /** Users who converted from the click's IP address within a day, including this one. */
  usersOfAddress: number
  /** Conversions of this user within an hour, including this one. */
  conversionsOfUser: number
  clickCountry: string | null
  conversionCountry: string | null
  clickSignals: readonly string[]
}

/** What a conversion can be marked with. `banned_user` needs no rule: the ban is one. */
export const MARKS = [...SIGNALS, 'banned_user'] as const
export type Mark = (typeof MARKS)[number]

export type Verdict = { signals: Mark[]; action: Action; reason: 'fraud' | 'geo_mismatch' }

/** All signals found, and the strictest action that any of them demands. */
export function judge(rules: readonly FraudRule[], offerId: number, evidence: Evidence): Verdict {
  const signals: Signal[] = []
  let action: Action = 'flag'
  let reason: Verdict['reason'] = 'fraud'
  for (const signal of SIGNALS) {
    const rule = ruleFor(rules, offerId, signal)
    if (rule === undefined || !isSeen(signal, rule.threshold ?? 0, evidence)) continue
    signals.push(signal)
    if (ACTIONS.indexOf(rule.action) > ACTIONS.indexOf(action)) {
      action = rule.action
      reason = signal === 'geo_mismatch' ? 'geo_mismatch' : 'fraud'
    }
  }
  return { signals, action, reason }
}

export function ruleFor(rules: readonly FraudRule[], offerId: number, signal: Signal): FraudRule | undefined {
  const ofSignal = rules.filter((rule) => rule.signal === signal)
  return ofSignal.find((rule) => rule.offerId === offerId) ?? ofSignal.find((rule) => rule.offerId === null)
}

function isSeen(signal: Signal, threshold: number, evidence: Evidence): boolean {
  switch (signal) {
    case 'too_fast':
      return evidence.secondsFromClick !== null && evidence.secondsFromClick < threshold
    case 'ip_users':
      return evidence.usersOfAddress > threshold
    case 'user_velocity':
      return evidence.conversionsOfUser > threshold
    case 'geo_mismatch':
      return (
        evidence.clickCountry !== null &&
        evidence.conversionCountry !== null &&
        evidence.clickCountry !== evidence.conversionCountry
      )
    default:
      return evidence.clickSignals.includes(signal)
  }
}

export type SignalCount = { signal: Signal; offer_id: number | null; count: number }

/** Since then: of each offer with a rule for the signal, and of all others together (null). */
export async function countSignals(db: Db, since: Date): Promise<SignalCount[]> {
  const { rows } = await sql<SignalCount>`
    SELECT seen.signal, r.offer_id, count(*) AS count
    FROM (SELECT unnest(signals) AS signal, offer_id FROM conversions
      WHERE conversion_id >= ${uuid7Floor(since.getTime())} AND NOT is_test AND signals <> '{}') AS seen
    LEFT JOIN fraud_rules r ON r.signal = seen.signal AND r.offer_id = seen.offer_id
    GROUP BY 1, 2`.execute(db)
  return rows
}

export async function readFraudRules(db: Db): Promise<FraudRule[]> {
  const rows = await db.selectFrom('fraud_rules').selectAll().orderBy('signal').orderBy('offer_id').execute()
  return rows.map((row) => ({
    offerId: row.offer_id,
    signal: row.signal as Signal,
    threshold: row.threshold,
    action: row.action as Action,
  }))
}

/**
 * The rule that this transaction is about to change. Serializes changes, so that the audit log records what was really
 * replaced. Readers do not wait.
 */
async function lockRule(trx: Trx, { signal, offerId }: Pick<FraudRule, 'offerId' | 'signal'>) {
  await sql`LOCK TABLE fraud_rules IN SHARE ROW EXCLUSIVE MODE`.execute(trx)
  const found = await trx
    .selectFrom('fraud_rules')
    .select(['threshold', 'action'])
    .where('signal', '=', signal)
    .where('offer_id', offerId === null ? 'is' : '=', offerId)
    .executeTakeFirst()
  return found ?? null
}

export type ListedRule = FraudRule & { fraud_rule_id: number; offer: string | null }

/** Those of single offers, newest first. */
export async function listOfferRules(db: Db, limit: number, before?: number): Promise<ListedRule[]> {
  const rules = selectListed(db).where('fraud_rules.offer_id', 'is not', null)
  const page = before === undefined ? rules : rules.where('fraud_rule_id', '<', before)
  return (await page.orderBy('fraud_rule_id', 'desc').limit(limit).execute()) as ListedRule[]
}

/** Those of all offers: one of a signal at most. */
export const listNetworkRules = async (db: Db): Promise<ListedRule[]> =>
  (await selectListed(db).where('fraud_rules.offer_id', 'is', null).orderBy('signal').execute()) as ListedRule[]

const selectListed = (db: Db) =>
  db
    .selectFrom('fraud_rules')
    .leftJoin('offers', 'offers.offer_id', 'fraud_rules.offer_id')
    .select([
      'fraud_rule_id',
      'fraud_rules.offer_id as offerId',
      'signal',
      'threshold',
      'action',
      'offers.name as offer',
    ])

export const needsThreshold = (signal: Signal) => ['too_fast', 'ip_users', 'user_velocity'].includes(signal)

/** Sets the rule for a signal, of one offer or of the network. */
export async function setFraudRule(db: Db, by: Actor, rule: FraudRule): Promise<void> {
  const needs = needsThreshold(rule.signal)
  if (needs !== (rule.threshold !== null))
    throw new OperatorError(
      needs ? `The signal ${rule.signal} needs a threshold.` : `The signal ${rule.signal} takes no threshold.`,
    )
  const { offerId, signal, threshold, action } = rule
  await inTransaction(db, async (trx) => {
    if (offerId !== null) {
      const offer = await trx.selectFrom('offers').select('offer_id').where('offer_id', '=', offerId).executeTakeFirst()
      if (offer === undefined) throw new NoSuch('offer', offerId)
    }
    const before = await lockRule(trx, rule)
    await trx
      .insertInto('fraud_rules')
      .values({ offer_id: offerId, signal, threshold, action })
      .onConflict((on) => on.expression(sql`signal, coalesce(offer_id, 0)`).doUpdateSet({ threshold, action }))
      .execute()
    const details = { offer_id: offerId, threshold, action, before }
    await recordAudit(trx, by, { action: 'fraud_rule.set', subject: signal, details })
  })
}

/** Without a rule the signal is not recorded. Returns whether there was a rule. */
export async function deleteRule(
  db: Db,
  by: Actor,
  { offerId, signal }: Pick<FraudRule, 'offerId' | 'signal'>,
): Promise<boolean> {
  return inTransaction(db, async (trx) => {
    const before = await lockRule(trx, { offerId, signal })
    if (before === null) return false
    await trx
      .deleteFrom('fraud_rules')
      .where('signal', '=', signal)
      .where('offer_id', offerId === null ? 'is' : '=', offerId)
      .execute()
    const details = { offer_id: offerId, before }
    await recordAudit(trx, by, { action: 'fraud_rule.delete', subject: signal, details })
    return true
  })
}
