// How many days each kind of data is kept.
import type { EnvReader } from '../lib/env-reader.ts'

export type Retention = Record<(typeof KINDS)[number], number>
const KINDS = ['clicks', 'callbacks', 'postbacks', 'requests', 'tickets', 'unlocks', 'addresses'] as const

/** The log of requests is a day a partition, and all of it is looked through when a user is erased. */
export function readRetention(given: EnvReader, days: number): Retention {
  const fallbacks: Partial<Retention> = { requests: Math.min(3, days), tickets: 400 }
  const read = (kind: (typeof KINDS)[number], min: number, max = 9_999) =>
    given.wholeNumber(`RETENTION_DAYS_${kind.toUpperCase()}`, fallbacks[kind] ?? days, min, max)
  return {
    clicks: read('clicks', 7),
    callbacks: read('callbacks', 7),
    postbacks: read('postbacks', 7),
    requests: read('requests', 1, 30),
    tickets: read('tickets', 7),
    unlocks: read('unlocks', 1),
    addresses: read('addresses', 1),
  }
}
