// What the parts of an erasure share (erase.ts).
import type { Trx } from '../../db/open.ts'
import type { AppUser } from './balances.ts'

/** An erasure that is being worked off. `more`: further pseudonyms, of what came back between two passes. */
export type Job = { erasureId: number; user: AppUser; pseudonym: string; more: string[] }

/** Runs one short transaction of an erasure; `kind` says what of. Adds up how many rows it returns. */
export type Step = (kind: string, work: (trx: Trx) => Promise<number>) => Promise<number>
