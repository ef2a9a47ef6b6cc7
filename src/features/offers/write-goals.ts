// Writes the goals of offers. A goal keeps its id, of which conversions and clicks speak, through renames and moves: it is
// known by the advertiser's own id of it, else by its name; what is left over on both sides is a rename where it cannot be
// anything else. A goal that is gone is retired, not deleted.
import { sql } from 'kysely'
import type { Trx } from '../../db/open.ts'
import { GOAL_COLUMNS, type NewGoal, type NewOffer, type RecordedGoal as Goal } from './fields.ts'

type Goals = Goal[]
type Columns = Omit<Goal, 'goal_id' | 'offer_id'>

/** What becomes of an offer's goals: new ones have no id yet. */
type Plan = { isChanged: boolean; kept: { old: Goal; now: Columns }[]; made: Columns[]; gone: Goal[] }

export function planGoals(before: Goals, given: readonly NewGoal[]): Plan {
  const matches = matchGoals(before, given)
  const kept = given.flatMap((goal, i) => {
    const old = matches[i]
    return old === undefined ? [] : [{ old, now: columnsOf(goal, i + 1, old) }]
  })
  const made = given.flatMap((goal, i) => (matches[i] === undefined ? [columnsOf(goal, i + 1)] : []))
  const gone = before.filter((goal) => !goal.is_retired && !matches.includes(goal))
  const changed = kept.filter(({ old, now }) => NAMES.some((name) => old[name] !== now[name]))
  return { isChanged: changed.length + made.length + gone.length > 0, kept: changed, made, gone }
}

/** What a goal is known by. */
type GoalKey = Pick<NewGoal, 'name' | 'external_id'>

/** The goal of before that each given one is, if any. */
export function matchGoals(before: Goals, given: readonly GoalKey[]): (Goal | undefined)[] {
  const left = new Set(before.toSorted((a, b) => Number(a.is_retired) - Number(b.is_retired)))
  const matches: (Goal | undefined)[] = given.map(() => undefined)
  const take = (i: number, found: Goal | undefined) => {
    if (found === undefined) return
    matches[i] = found
    left.delete(found)
  }
  const matchBy = (isSame: (old: Goal, goal: GoalKey) => boolean) => {
    for (const [i, goal] of given.entries()) {
      if (matches[i] === undefined)
        take(
          i,
          [...left].find((old) => isSame(old, goal)),
        )
    }
  }
  const mayBe = (old: Goal, { external_id = null }: GoalKey) =>
    old.external_id === null || external_id === null || old.external_id === external_id
  matchBy((old, { external_id = null }) => external_id !== null && old.external_id === external_id)
  matchBy((old, goal) => old.name === goal.name && mayBe(old, goal))
  const unknown = [...given.keys()].filter((i) => matches[i] === undefined)
  const active = [...left].filter((old) => !old.is_retired)
  const pairs = unknown.map((i) => ({
    i,
    old: unknown.length === 1 && active.length === 1 ? active[0] : active.find((old) => old.place === i + 1),
  }))
  // One of each, or all in the places where they were: anything else might be other goals.
  const isRename =
    active.length === unknown.length && pairs.every(({ i, old }) => old && mayBe(old, given[i] as GoalKey))
  if (isRename) for (const { i, old } of pairs) take(i, old)
  return matches
}

const NAMES = [...GOAL_COLUMNS, 'place', 'is_retired'] as const
const names = sql.raw(NAMES.join(', '))

const columnsOf = (goal: NewGoal, place: number, old?: Goal): Columns => ({
  ...goal,
  external_id: goal.external_id === undefined ? (old?.external_id ?? null) : goal.external_id,
  place,
  is_retired: false,
})

type Row = { advertiserId: number; offer: NewOffer }

/** Returns the offers whose goals changed, with the goals before. The rows of the offers are locked by now. */
export async function writeGoals(trx: Trx, rows: readonly Row[]): Promise<Map<number, Goals>> {
  const before = await readGoals(trx, rows)
  const plans = before.map(({ offer_id, goals, place }) => ({
    offer_id,
    goals: goals ?? [],
    plan: planGoals(goals ?? [], rows[place - 1]?.offer.goals ?? []),
  }))
  const changed = plans.filter(({ plan }) => plan.isChanged)
  // First out of the way of each other: two goals may swap their names.
  const parked = changed.flatMap(({ plan: { kept, gone } }) => [
    ...gone.map((goal) => goal.goal_id),
    ...kept.filter(({ old, now }) => old.name !== now.name && !old.is_retired).map(({ old }) => old.goal_id),
  ])
  if (parked.length > 0)
    await sql`UPDATE goals SET is_retired = true WHERE goal_id = ANY (${parked}::bigint[])`.execute(trx)
  const kept = changed.flatMap(({ plan }) => plan.kept.map(({ old, now }) => ({ ...now, goal_id: old.goal_id })))
  if (kept.length > 0)
    await sql`UPDATE goals SET (${names}) = (SELECT ${sql.raw(NAMES.map((name) => `g.${name}`).join(', '))})
      FROM jsonb_populate_recordset(NULL::goals, ${JSON.stringify(kept)}) g WHERE goals.goal_id = g.goal_id`.execute(
      trx,
    )
  const made = changed.flatMap(({ offer_id, plan }) => plan.made.map((goal) => ({ ...goal, offer_id })))
  if (made.length > 0)
    await sql`INSERT INTO goals (offer_id, ${names})
      SELECT offer_id, ${names} FROM jsonb_populate_recordset(NULL::goals, ${JSON.stringify(made)}) ORDER BY offer_id, place`.execute(
      trx,
    )
  return new Map(changed.map(({ offer_id, goals }) => [offer_id, goals]))
}

async function readGoals(trx: Trx, rows: readonly Row[]) {
  const keys = rows.map(({ advertiserId, offer }) => ({ advertiser_id: advertiserId, external_id: offer.external_id }))
  const { rows: found } = await sql<{ place: number; offer_id: number; goals: Goals | null }>`
    SELECT k.place, o.offer_id, (SELECT json_agg(g ORDER BY g.place, g.goal_id) FROM goals g WHERE g.offer_id = o.offer_id) AS goals
    FROM ROWS FROM (jsonb_to_recordset(${JSON.stringify(keys)}) AS (advertiser_id bigint, external_id text))
      WITH ORDINALITY AS k (advertiser_id, external_id, place)
    JOIN offers o ON o.advertiser_id = k.advertiser_id AND o.external_id = k.external_id`.execute(trx)
  return found
}
