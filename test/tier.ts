// How much a run of the tests does. `npm test` sees every fact once; with --looks also how each page looks in both themes.
// `npm run test:all` adds what takes long: many rounds of faults and histories, the release, the commands of the
// documentation; with --short these alone, in fewer rounds.
import { test, type TestContext } from 'node:test'

type Tier = 'quick' | 'short' | 'all'

const TIER = (process.env['OFFERDECK_TESTS'] ?? 'quick') as Tier

export const FAULT_ROUNDS = { quick: 1, short: 3, all: 30 }[TIER]
/** By how much the number of generated histories is multiplied. */
export const HISTORIES = { quick: 1, short: 1, all: 30 }[TIER]
export const CHECKS_LOOKS = TIER === 'all' || process.env['OFFERDECK_LOOKS'] === 'on'

/** Each page in every pair of width and theme. */
export const CHECKS_ALL_LOOKS = TIER === 'all'

/** A test of nothing but looks. */
export const testLooks = (name: string, run: () => Promise<void>): unknown => (CHECKS_LOOKS ? test(name, run) : null)

/** One that fetches something large from the registry. */
export const testWhole = (name: string, run: () => Promise<void>): unknown => (TIER === 'all' ? test(name, run) : null)

export const IS_LONG = TIER !== 'quick'

/** One that takes long and is about what changes rarely. */
export const testLong = (name: string, run: (t: TestContext) => Promise<void>): unknown =>
  IS_LONG ? test(name, run) : null
