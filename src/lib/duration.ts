const UNITS = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const

const LONGEST_FIRST = Object.entries(UNITS).toReversed()

/** "90s", "15m", "24h" or "7d" in milliseconds, or null. */
export function parseDuration(text: string): number | null {
  const match = /^(\d{1,6})([smhd])$/.exec(text.trim())
  return match ? Number(match[1]) * UNITS[match[2] as keyof typeof UNITS] : null
}

/** The other way round, in the longest unit that divides it. */
export function formatDuration(ms: number): string {
  const [unit, length] = LONGEST_FIRST.find(([, size]) => ms > 0 && ms % size === 0) ?? ['s', UNITS.s]
  return `${ms / length}${unit}`
}
