// How much a run of the tests does. `npm test` sees every fact once. `npm run test:all` adds what takes long: many rounds
// of faults and histories, and the look of every page in both themes; with --short fewer rounds of these alone.
import { test } from 'node:test'

type Tier = 'quick' | 'short' | 'all'

const TIER = (process.env['OFFERDECK_TESTS'] ?? 'quick') as Tier

export const FAULT_ROUNDS = { quick: 1, short: 3, all: 30 }[TIER]
/** By how much the number of generated histories is multiplied. */
export const HISTORIES = { quick: 1, short: 1, all: 30 }[TIER]
export const CHECKS_LOOKS = TIER !== 'quick'

/** A test of nothing but looks, or one that takes long and is about what changes rarely. */
export const testLong = (name: string, run: () => Promise<void>): unknown => (CHECKS_LOOKS ? test(name, run) : null)
