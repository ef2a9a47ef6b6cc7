// An app's figures of today and of the last seven days, today included.
import type { Db } from '../../db/open.ts'
import { listDays } from './days.ts'
import type { StatsTotals } from './schema.ts'
import { readRange, readStats } from './stats.ts'

const DAY_MS = 86_400_000
const DAYS = 7

export async function readRecent(
  db: Db,
  appId: number,
  timezone: string,
  now: Date,
): Promise<{ today: StatsTotals; week: StatsTotals }> {
  readRange({ timezone }, now) // refuses what is no time zone
  const [today] = listDays(timezone, now.getTime(), now.getTime() + 1)
  const first = new Date(Date.parse(today?.day ?? '') - (DAYS - 1) * DAY_MS).toISOString().slice(0, 10)
  const range = readRange({ from: first, timezone }, now)
  const { rows, totals } = await readStats(
    db,
    { appId, isTest: false },
    { timezone, groupBy: 'day', limit: DAYS + 1 },
    range,
  )
  const { day: _, ...latest } = rows.at(-1) as StatsTotals & { day?: string }
  return { today: latest, week: totals }
}
