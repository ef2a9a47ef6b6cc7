// Feeds have no translations, so those of an operator stay beside what a feed changes. A translation is of a text: when the
// feed changes the text, its translation goes. It might promise what the offer no longer pays for.

type ShownRecord = Record<string, unknown>
type Texts = Record<string, unknown>
type Shown = ShownRecord & { translations?: Record<string, Texts> }
type ShownGoal = Shown & { external_id: string | null; name: string }

const goalsOf = (record: ShownRecord) => (record['goals'] ?? []) as ShownGoal[]

/** The goals but for their translations: what a feed writes of them. */
export const feedGoals = (record: ShownRecord): ShownRecord[] =>
  goalsOf(record).map(({ translations: _own, ...goal }) => goal)

/** A record that comes next, with the translations that the offer has now. */
export function keepTranslations(now: ShownRecord, next: ShownRecord): ShownRecord {
  const goals = goalsOf(next).map((goal) => {
    const same = goalsOf(now).find((old) => goal.external_id === null ? old.name === goal.name : old.external_id === goal.external_id) // prettier-ignore
    return same === undefined ? goal : { ...goal, translations: stillTrue(same, goal) }
  })
  return { ...next, translations: stillTrue(now, next), goals }
}

const stillTrue = (now: Shown, next: ShownRecord) =>
  Object.fromEntries(
    Object.entries(now.translations ?? {}).map(([language, texts]) => [
      language,
      Object.fromEntries(Object.entries(texts).filter(([field]) => now[field] === next[field])),
    ]),
  )
