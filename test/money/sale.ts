// Rewards as one app of a run has them: rounded, and for a day and a half in a sale.
import { PEOPLE } from './actions.ts'

/** The app with both. */
export const SALE_APP = 0
export const SALE = {
  multiplierPpm: 1_500_000,
  startsAt: new Date('2026-03-10T12:00:00Z'),
  endsAt: new Date('2026-03-12T00:00:00Z'),
}
const RATE_MICROS = 100_000_000
const TENTHS = 1_000 // of the steps that rewards are counted in

/** "The sale at the click counts; without a click, the one at the report." */
export function promisedRewards(person: number, atMs: number) {
  if (PEOPLE[person]?.app !== SALE_APP) return { rate_micros: RATE_MICROS, rounding: null, multiplier_ppm: null }
  const isOn = atMs >= SALE.startsAt.getTime() && atMs < SALE.endsAt.getTime()
  return {
    rate_micros: isOn ? RATE_MICROS * 1.5 : RATE_MICROS,
    rounding: 'nearest1',
    multiplier_ppm: isOn ? SALE.multiplierPpm : null,
  }
}

/** In ten thousandths: a millionth of a dollar is one at this rate. */
export function rewardOf(person: number, payoutMicros: number, atMs: number): number {
  const { rate_micros, rounding } = promisedRewards(person, atMs)
  const exact = (payoutMicros * rate_micros) / RATE_MICROS
  return rounding === null ? exact : Math.round(exact / TENTHS) * TENTHS
}
