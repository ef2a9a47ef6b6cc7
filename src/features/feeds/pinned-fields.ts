// What an operator has edited, found by comparing: a field that is not as the feed wrote it stays as it is.
import { isDeepStrictEqual } from 'node:util'
import { FIELD_NAMES, FIELDS, type NewOffer, showFields } from '../offers/fields.ts'
import type { RecordedOffer } from '../offers/offers.ts'
import { feedGoals } from './keep-translations.ts'

export type ShownRecord = Record<string, unknown>

/** As JSON has it: what is stored is compared with what was. */
export const plainOf = (offer: RecordedOffer | NewOffer) =>
  JSON.parse(JSON.stringify(showFields(FIELDS, offer))) as ShownRecord

export const pick = (record: ShownRecord, names: readonly string[]) => Object.fromEntries(names.map((name) => [name, record[name]])) // prettier-ignore

/** What names an offer, and sums, which follow from goals. */
const NEVER_PINNED = ['payout', 'revenue', 'advertiser', 'external_id']

/** Not those that are newer than what the feed wrote. */
export function pinnedFields(recorded: RecordedOffer, applied: ShownRecord): string[] {
  const shown = plainOf(recorded)
  const isSame = (field: string) => (field === 'goals' ? isSameGoals(shown, applied) : isDeepStrictEqual(shown[field], applied[field])) // prettier-ignore
  return FIELD_NAMES.filter((field) => field in applied && !NEVER_PINNED.includes(field) && !isSame(field))
}

function isSameGoals(shown: ShownRecord, applied: ShownRecord): boolean {
  const [goals, before] = [feedGoals(shown), feedGoals(applied)]
  return goals.length === before.length && before.every((goal, i) => isDeepStrictEqual(pick(goals[i] ?? {}, Object.keys(goal)), goal)) // prettier-ignore
}

/**
 * What a feed wrote, with the fields that are newer and that its offers do not give: as all of them begin. An edit of
 * such a field is one, too.
 */
export function withNewFields(applied: ShownRecord, given: ShownRecord, mapped: ShownRecord): ShownRecord {
  const newer = (before: ShownRecord, here: ShownRecord, all: ShownRecord) => pick(all, Object.keys(all).filter((name) => !(name in before) && !(name in here))) // prettier-ignore
  const [[here = {}], [all = {}]] = [feedGoals(given), feedGoals(mapped)]
  const goals = feedGoals(applied).map((goal) => ({ ...newer(goal, here, all), ...goal }))
  return { ...newer(applied, given, mapped), ...applied, goals }
}
