// What an offer is paid for, and what it pays for each.
import { createHash } from 'node:crypto'
import { MAX_GOALS } from '../../offers/import-record.ts'
import { readMoney } from './amounts.ts'
import type { Goals, Mapping, Money, TextSource } from './mapping.ts'
import { readAll, readRows, sameText, scalarText } from './paths.ts'
import { cutText, holds, readText } from './texts.ts'

/** Amounts in micros of the offer's currency: what the upstream pays. */
export type MappedGoal = {
  external_id: string
  name: string
  description: string
  micros: number
  is_optional: boolean
}
/** Empty: none is said. */
type Priced = { goals: MappedGoal[]; currency: string }
type Problem = { problem: string }

/** Of amounts whose currency should stand beside them, and does not. */
const UNSAID = 'an unknown one'

export function readGoals(mapping: Mapping, item: unknown): Priced | Problem {
  const said = new Set<string>()
  const read = (money: Money | undefined, rows: unknown[], currency?: TextSource) => {
    const own = readText(mapping.currency, item).toUpperCase()
    return readAmount(money, rows, (row) => (currency === undefined ? own : readText(currency, row).toUpperCase() || own || UNSAID), said) // prettier-ignore
  }
  const found = mapping.goals === undefined ? [] : goalsOf(mapping.goals, item, read)
  if ('problem' in found) return found
  const goals = found.length > 0 ? found : wholeOf(mapping, item, read)
  if ('problem' in goals) return goals
  if (goals.every(({ micros }) => micros === 0)) return { problem: 'its payout is 0' }
  const currencies = [...said].filter((one) => one !== '')
  const [currency = ''] = currencies
  if (currencies.length > 1) return { problem: `its payouts are in several currencies: ${currencies.join(', ')}` }
  // One at least must be required: without any that is, all are.
  const isAnyRequired = goals.some((goal) => !goal.is_optional)
  return {
    goals: isAnyRequired ? goals : goals.map((goal) => ({ ...goal, is_optional: false })),
    currency: currency === UNSAID ? '' : currency,
  }
}

type Read = (money: Money | undefined, rows: unknown[], currency?: TextSource) => number | null | Problem

/** Null: nothing stands there. Several rows for the same must pay the same. Adds to `said` what is paid in. */
function readAmount(
  money: Money | undefined,
  rows: unknown[],
  currencyOf: (row: unknown) => string,
  said: Set<string>,
): number | null | Problem {
  // prettier-ignore
  const found = new Set<number>()
  for (const row of rows) {
    const amount = readMoney(money, row)
    if (amount === null) continue
    if ('problem' in amount) return amount
    found.add(amount.micros)
    if (amount.micros === 0) continue // nothing is the same in every currency
    const declared = currencyOf(row)
    if (amount.currency === '' || declared !== UNSAID) said.add(declared)
    said.add(amount.currency)
  }
  const [micros = null, ...others] = found
  return others.length === 0 ? micros : { problem: `it has conflicting payouts: ${[...found].map((one) => one / 1_000_000).join(' and ')}` } // prettier-ignore
}

/** Of an offer without goals. */
function wholeOf({ payout, goals }: Mapping, item: unknown, read: Read): MappedGoal[] | Problem {
  const micros = read(payout ?? goals?.base?.payout, [item])
  if (micros === null) return { problem: 'it has no payout' }
  return typeof micros === 'object' ? micros : [{ external_id: '', name: 'Complete', description: '', micros, is_optional: false }] // prettier-ignore
}

function goalsOf(goals: Goals, item: unknown, read: Read): MappedGoal[] | Problem {
  const entries = readRows(goals.list, item)
  const made: MappedGoal[] = []
  if (entries.length === 0) return []
  if (entries.length > MAX_GOALS) return { problem: `it has more than ${MAX_GOALS} goals` }
  if (goals.base !== undefined) {
    const micros = read(goals.base.payout, [item])
    if (typeof micros === 'object' && micros !== null) return micros
    if (micros !== null && micros > 0)
      made.push({ external_id: '', name: goals.base.name, description: '', micros, is_optional: false })
  }
  for (const entry of entries) {
    const micros = read(goals.payout, joined(goals, item, entry), goals.currency)
    if (typeof micros === 'object' && micros !== null) return micros
    const name = cutText(readText(goals.name, entry) || `Goal ${made.length + 1}`, 300)
    const external_id = readText(goals.id, entry) || `#${hashOf(name)}`
    const same = made.find((goal) => goal.external_id === external_id)
    if (same !== undefined && same.micros !== (micros ?? 0)) return { problem: `its goal "${cutText(name, 50)}" has conflicting payouts` } // prettier-ignore
    if (same !== undefined) continue
    made.push({
      external_id,
      name: nameOnce(name, made),
      description: cutText(readText(goals.description, entry), 10_000),
      micros: micros ?? 0,
      is_optional: goals.optional !== undefined && holds(goals.optional, entry),
    })
  }
  if (goals.only_one === true && made.length > 1)
    return { problem: 'it has several goals, and callbacks of this network do not say which one was reached' }
  return made
}

/** What has the amount of a goal: itself, or the entries of another list that name it. */
function joined({ join }: Goals, item: unknown, entry: unknown): unknown[] {
  if (join === undefined) return [entry]
  const name = scalarText(readAll(join.goal, entry)[0])
  return readRows(join.list, item).filter((one) => readAll(join.is, one).some((value) => sameText(value, name)))
}

/** Goals of one offer have different names: some upstreams call several alike. */
function nameOnce(name: string, before: readonly MappedGoal[]): string {
  let unique = name
  for (let n = 2; before.some((goal) => goal.name === unique); n++) unique = `${cutText(name, 290)} (${n})`
  return unique
}

const hashOf = (text: string) => createHash('sha256').update(text).digest('hex').slice(0, 12)
