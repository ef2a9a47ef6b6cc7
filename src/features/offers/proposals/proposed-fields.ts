// What a proposal says about an offer: some of its fields, as an import takes them. They are laid over the offer as it is
// now, so that what the proposal does not name stays.
import { isDeepStrictEqual } from 'node:util'
import { badRequest, type Details } from '../../../errors.ts'
import { FIELDS, GOAL_FIELDS, type NewOffer, PROPOSED_GOAL_NAMES, PROPOSED_NAMES, type ProposedName, type RecordedGoal, showFields } from '../fields.ts' // prettier-ignore
import { readOffer } from '../import-record.ts'
import type { RecordedOffer } from '../offers.ts'
import { matchGoals } from '../write-goals.ts'

/** As JSON: times are texts. */
export type ProposedFields = Partial<Record<ProposedName, unknown>>
type ProposedGoal = Record<string, unknown> & { name: string; external_id?: string | null }
/** `payout` is missing of goals that are new: the operator says it. */
export type MergedGoal = Record<string, unknown> & { payout?: unknown }
/** Whose offer it is, and how it is known there: neither is for a proposal to change. */
export type Owner = { advertiser: string; external_id: string }

/** What differs from the offer as it is now, and how that is. `now` is null for a new offer. */
export function readProposed(
  given: ProposedFields,
  owner: Owner,
  now: RecordedOffer | null,
): { fields: ProposedFields; before: ProposedFields } {
  checkProposed(given, now === null)
  const shown = proposedOf(previewOf(recordOf(given, owner, now)))
  const before = now === null ? {} : proposedOf(now)
  const changed = PROPOSED_NAMES.filter((name) => given[name] !== undefined && !isDeepStrictEqual(shown[name], before[name])) // prettier-ignore
  return { fields: pick(shown, changed), before: now === null ? {} : pick(before, changed) }
}

/** Rules that hold for advertisers only. The others are those of an import. */
function checkProposed({ image_url, goals }: ProposedFields, isNew: boolean): void {
  const problems: Details = {}
  if (typeof image_url === 'string' && image_url.startsWith('/') && !image_url.startsWith('/images/'))
    problems['image_url'] = 'Upload the picture, or enter its URL.'
  const proposed = (goals ?? []) as ProposedGoal[]
  if (proposed.length === 0 && (isNew || goals !== undefined)) problems['goals'] = 'Add at least one goal.'
  for (const [i, goal] of proposed.entries())
    if (!isGiven(goal['revenue']) && !isGiven(goal['revenue_percent']))
      problems[`goals.${i}.revenue`] = 'Enter what you pay for this goal.'
  if (Object.keys(problems).length > 0) throw badRequest(problems)
}

const isGiven = (amount: unknown) => amount !== undefined && amount !== null && amount !== ''

/** The whole offer with the proposal in it, as an import takes it. */
export function recordOf({ goals, ...fields }: ProposedFields, owner: Owner, now: RecordedOffer | null) {
  const { payout: _sum, revenue: _sums, ...record } = now === null ? { goals: [] } : showFields(FIELDS, now)
  const merged: MergedGoal[] =
    goals === undefined ? record.goals : mergeGoals(now?.goals ?? [], goals as ProposedGoal[])
  return { ...record, ...fields, ...owner, goals: merged }
}

/**
 * A goal that was there keeps its payout, also where it was renamed or moved; not where it is to be paid by a percentage
 * from now on, or no longer. What an import makes of a missing price is the payout, which advertisers never see.
 */
function mergeGoals(before: RecordedGoal[], proposed: ProposedGoal[]): MergedGoal[] {
  const matches = matchGoals(
    before,
    proposed.map(({ name, external_id }) => ({ name, external_id: external_id || null })),
  )
  return proposed.map((goal, i) => {
    const old = matches[i]
    const named = PROPOSED_GOAL_NAMES.filter((name) => name !== 'revenue' || isGiven(goal[name]))
    const asked = pick(goal, named)
    if (old === undefined || old.is_retired) return asked
    const { payout, payout_percent, ...kept } = showFields(GOAL_FIELDS, old)
    const merged = { ...kept, ...asked }
    const isSameKind = isGiven(merged.revenue_percent) === isGiven(kept.revenue_percent)
    return isSameKind ? { payout, payout_percent, ...merged } : merged
  })
}

/** What would be written, with all defaults. Payouts that the operator has yet to say are 0. */
export const previewOf = ({ goals, ...record }: ReturnType<typeof recordOf>): NewOffer =>
  readOffer({ ...record, goals: goals.map((goal) => ({ payout: 0, ...goal })) })

/** What advertisers see of it. */
function proposedOf(offer: NewOffer | RecordedOffer): ProposedFields {
  const { goals, ...record } = showFields(FIELDS, offer)
  const shown = { ...record, goals: goals.map((goal) => pick(goal, PROPOSED_GOAL_NAMES)) }
  return JSON.parse(JSON.stringify(pick(shown, PROPOSED_NAMES))) as ProposedFields
}

const pick = <T extends object, const K extends keyof T>(from: T, keys: readonly K[]) =>
  Object.fromEntries(keys.filter((key) => key in from).map((key) => [key, from[key]])) as Pick<T, K>

export type ProposedChange = {
  field: ProposedName
  before: unknown
  after: unknown
  /** It had another value when the proposal was written. */
  changed_since: boolean
}

type Proposed = { fields: ProposedFields; before: ProposedFields }

/** As it was proposed. */
export const listProposed = ({ fields, before }: Proposed): ProposedChange[] =>
  PROPOSED_NAMES.filter((name) => fields[name] !== undefined).map((field) => ({
    field,
    before: before[field] ?? null,
    after: fields[field],
    changed_since: false,
  }))

/** What approving would change, field by field. */
export function compareProposed({ fields, before }: Proposed, now: RecordedOffer | null): ProposedChange[] {
  if (now === null) return listProposed({ fields, before })
  const current = proposedOf(now)
  return listProposed({ fields, before: current }).map((change) => ({
    ...change,
    changed_since: !isDeepStrictEqual(change.before, before[change.field] ?? null),
  }))
}
