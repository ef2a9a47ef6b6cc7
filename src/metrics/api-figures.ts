// What an API process can tell about itself.
import type { BatchCounts } from '../db/batch-writer.ts'
import { readSpool } from '../db/diagnostics.ts'
import type { Replica } from '../db/replica.ts'
import type { Catalogue } from '../features/offers/catalogue.ts'
import type { OfferFollower } from '../features/offers/follow-offers.ts'
import type { LiveWalls } from '../features/wall/live.ts'
import type { Metrics } from './metrics.ts'

export type ApiParts = {
  dataDir: string
  replica: Pick<Replica, 'lagSeconds'> | null
  catalogue: Pick<Catalogue, 'count' | 'bytes'>
  offers: Pick<OfferFollower, 'ageMs'>
  liveWalls: Pick<LiveWalls, 'count'>
  writers: Record<string, () => BatchCounts>
}

export function addApiFigures(metrics: Metrics, parts: ApiParts): void {
  metrics.gauge('catalogue_offers', 'Offers in memory.', () => parts.catalogue.count)
  metrics.gauge('catalogue_bytes', 'Memory that offers take.', () => parts.catalogue.bytes)
  metrics.gauge(
    'catalogue_age_seconds',
    'How long ago the offers in memory were last compared with the database.',
    () => parts.offers.ageMs() / 1000,
  )
  metrics.gauge('live_streams', 'Open streams of walls and lockers.', () => parts.liveWalls.count)
  metrics.gauge(
    'spool_bytes',
    'What waits on the disk of this machine until the database accepts it.',
    async () => (await readSpool(parts.dataDir)).spool_bytes,
  )
  const { replica } = parts
  metrics.gauges(
    'database_replica_lag_seconds',
    'How far the replica is behind; infinite: it does not answer.',
    [],
    () => (replica === null ? [] : [{ labels: {}, value: replica.lagSeconds ?? Infinity }]),
  )
  const ofWriters = (pick: (counts: BatchCounts) => number) => () =>
    Object.entries(parts.writers).map(([writer, counts]) => ({ labels: { writer }, value: pick(counts()) }))
  metrics.totals('batches', 'Group commits.', ['writer'], ofWriters(({ batches }) => batches)) // prettier-ignore
  metrics.totals(
    'batch_rows',
    'Rows in group commits.',
    ['writer'],
    ofWriters(({ rows }) => rows),
  )
  metrics.gauges(
    'batch_queue',
    'Rows that wait for a group commit.',
    ['writer'],
    ofWriters(({ queued }) => queued),
  )
}
