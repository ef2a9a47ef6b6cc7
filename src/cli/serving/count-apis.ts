// How many API processes `PROCESSES=auto` means: one for each core, as far as the memory goes. Each holds the whole
// catalogue, so the offers decide; they are counted once, at the start.
import { availableParallelism } from 'node:os'
import { type Config, MAX_PROCESSES } from '../../config.ts'
import type { Database } from '../../db/open.ts'
import { allOffers } from '../../features/offers/offer-rows.ts'

const MB = 1_000_000
const PROCESS_BYTES = 512 * MB // one that has room to grow; also kept for the worker
const OFFER_BYTES = 4_000

type Machine = { cores: number; availableBytes: number }

/** Where something less than the memory of the machine is this container's, that counts. */
const here = (): Machine => ({ cores: availableParallelism(), availableBytes: process.availableMemory() })

/** `why`: to be logged; null where a number is set. */
export async function countApis(
  processes: Config['processes'],
  database: Database,
  { cores, availableBytes }: Machine = here(),
): Promise<{ apis: number; why: string | null }> {
  if (processes !== 'auto') return { apis: processes, why: null }
  const offers = await allOffers(database).count()
  const eachBytes = PROCESS_BYTES + offers * OFFER_BYTES
  const fit = Math.floor((availableBytes - PROCESS_BYTES) / eachBytes)
  const apis = Math.max(1, Math.min(cores, fit, MAX_PROCESSES))
  const memory = `${asMb(availableBytes)} of memory, ${asMb(PROCESS_BYTES)} for the worker and ${asMb(eachBytes)} for each at ${offers} offers`
  return { apis, why: `PROCESSES=auto starts ${apis} API process${apis === 1 ? '' : 'es'}: ${cores} cores; ${memory}` }
}

const asMb = (bytes: number) => `${Math.floor(bytes / MB)} MB`
