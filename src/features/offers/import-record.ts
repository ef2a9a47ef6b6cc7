// One row of an import, from JSON or CSV, read strictly: what cannot be understood is refused with a sentence.
import { AppError, type Details } from '../../errors.ts'
import { MAX_PAYOUT_MICROS } from './caps.ts'
import { type FieldProblem, FieldReader } from './field-reader.ts'
import { FIELDS, GOAL_FIELDS, type NewGoal, type NewOffer, readFields } from './fields.ts'

export const MAX_GOALS = 50

/** Amounts that are not given, which a field reads as null. */
type Read<T> = Omit<T, 'payout_micros' | 'revenue_micros'> & {
  payout_micros: number | null
  revenue_micros: number | null
}

/** Reads a row; either the offer or everything that is wrong with it. */
export function readImportRecord(record: unknown): { offer: NewOffer } | { problems: FieldProblem[] } {
  if (typeof record !== 'object' || record === null || Array.isArray(record))
    return { problems: [{ field: null, message: 'not an object' }] }
  const reader = new FieldReader(record as Record<string, unknown>)
  const { problems } = reader
  const read = readFields(FIELDS, reader) as Read<NewOffer> & { goals: unknown[] }
  const goals = readGoals(reader, read)
  const payout_micros = goals.reduce((sum, goal) => sum + goal.payout_micros, 0)
  const revenue_micros = goals.reduce((sum, goal) => sum + goal.revenue_micros, 0)
  if ((read.payout_micros ?? payout_micros) !== payout_micros) reader.refuse('payout', 'must be the sum over its goals')
  if ((read.revenue_micros ?? revenue_micros) !== revenue_micros)
    reader.refuse('revenue', 'must be the sum over its goals')
  if (Math.max(payout_micros, revenue_micros) > MAX_PAYOUT_MICROS)
    problems.push({ field: 'goals', message: 'its goals add up to more than 100,000 dollars' })
  if (read.starts_at !== null && read.ends_at !== null && read.starts_at >= read.ends_at)
    reader.refuse('ends_at', 'must be after starts_at')
  return problems.length > 0 ? { problems } : { offer: { ...read, payout_micros, revenue_micros, goals } }
}

/** The same for a request or a record: problems are thrown, by field. */
export function readOffer(record: Record<string, unknown>): NewOffer {
  const read = readImportRecord(record)
  if ('offer' in read) return read.offer
  const { problems } = read
  const details: Details = {}
  for (const { field, message } of problems) details[field ?? 'body'] ??= sentence(message)
  throw new AppError('INVALID_REQUEST', sentence(describeProblems(problems)), details)
}

const sentence = (text: string) => `${text.charAt(0).toUpperCase()}${text.slice(1)}.`

/** In a line of a file, where there are no fields to show them at: goals[1].payout is missing; … */
export const describeProblems = (problems: readonly FieldProblem[]): string =>
  problems
    .map(({ field, message }) => {
      const [, place] = /^goals\.(\d+)\./.exec(field ?? '') ?? []
      return place === undefined ? message : `goals[${Number(place) + 1}].${message}`
    })
    .join('; ')

/** The goals given, or the one goal that an offer without any consists of. */
function readGoals(
  reader: FieldReader,
  offer: Pick<Read<NewOffer>, 'payout_micros' | 'revenue_micros'> & { goals: unknown[] },
): NewGoal[] {
  const { problems } = reader
  if (offer.goals.length === 0) {
    if (!reader.has('payout')) reader.refuse('payout', 'is missing')
    const payout_micros = offer.payout_micros ?? 0
    const { external_id: _none, ...goal } = readGoal(new FieldReader({ name: 'Complete' }))
    return [{ ...goal, payout_micros, revenue_micros: offer.revenue_micros ?? payout_micros }]
  }
  if (offer.goals.length > MAX_GOALS) reader.refuse('goals', `has more than ${MAX_GOALS} entries`)
  const goals = offer.goals.map((entry, i) => {
    const goal = new FieldReader((typeof entry === 'object' && entry !== null ? entry : {}) as Record<string, unknown>)
    if (!goal.has('payout')) goal.refuse('payout', 'is missing')
    const read = readGoal(goal)
    problems.push(
      ...goal.problems.map(({ field, message }) =>
        field === null
          ? { field: 'goals', message: `goals[${i + 1}].${message}` }
          : { field: `goals.${i}.${field}`, message },
      ),
    )
    return read
  })
  const isTwice = (values: string[]) => new Set(values).size < values.length
  if (isTwice(goals.map(({ name }) => name))) reader.refuse('goals', 'has two goals with the same name')
  if (isTwice(goals.flatMap(({ external_id }) => external_id ?? [])))
    reader.refuse('goals', 'has two goals with the same external_id')
  if (goals.every(({ is_optional }) => is_optional)) reader.refuse('goals', 'must include a goal that is not optional')
  return goals
}

/** Missing revenue equals the payout, as an amount and as a share. */
function readGoal(reader: FieldReader): NewGoal {
  const goal = readFields(GOAL_FIELDS, reader) as Read<NewGoal>
  const payout_micros = goal.payout_micros ?? 0
  return {
    ...goal,
    payout_micros,
    revenue_micros: goal.revenue_micros ?? payout_micros,
    revenue_ppm: goal.revenue_ppm ?? goal.payout_ppm,
  }
}
