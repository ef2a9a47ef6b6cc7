// The locks of a batch: first one for each user and offer, and for each transaction, idempotency key and IP address, in
// ascending order, so that commands about the same thing are serialized across processes; then the caps, shared. The
// usage of capped offers is locked when it is read (load-context.ts). Unique indexes are the last line of defence.
import { sql } from 'kysely'
import { LOCK_CLASSES, LOCKS } from '../../db/locks.ts'
import type { Trx } from '../../db/open.ts'
import { hashNumber } from '../../lib/hash-text.ts'
import { clickOf } from './decision-context.ts'
import { addressLock, idempotencyLock, transactionLock, userLock } from './keys.ts'
import type { Batch } from './prepare-batch.ts'

/** Returns the longest attribution window of the reported offers, read in the same statement. */
export async function lockBatch(trx: Trx, { commands, subjects, clicks }: Batch): Promise<number> {
  const names = commands.flatMap((command, i) => {
    const subject = subjects[i]
    const about = subject ? [userLock(subject)] : []
    if (command.kind === 'report' && command.idempotencyKey !== null) about.push(idempotencyLock(command))
    if (command.kind === 'confirmation' && command.transactionId !== null && subject)
      about.push(transactionLock(command, subject))
    const ip = command.kind === 'confirmation' ? clickOf(clicks, command)?.ip : undefined
    if (ip) about.push(addressLock(ip)) // so that rules about an address see those before them
    return about
  })
  const keys = [...new Set(names.map((name) => hashNumber(name) % 0x7fff_ffff))].toSorted((a, b) => a - b)
  // Plans are cached per connection: planning these statements again would cost more than running them. Every look-up
  // has its index, which a plan made while a table was still empty would not use.
  const reported = commands.flatMap((command) => (command.kind === 'report' ? command.offerId : []))
  const { rows } = await sql<{
    windowS: number | null
  }>`/* commands-lock */ SELECT set_config('plan_cache_mode', 'force_generic_plan', true),
    set_config('jit', 'off', true), set_config('enable_seqscan', 'off', true), set_config('enable_hashjoin', 'off', true), set_config('enable_mergejoin', 'off', true),
    (SELECT count(pg_advisory_xact_lock(${LOCK_CLASSES.commands}::integer, key)) FROM unnest(${keys}::integer[]) AS key),
    pg_advisory_xact_lock_shared(${LOCKS.caps}::bigint), longest_attribution(${reported}::bigint[]) AS "windowS"`.execute(
    trx,
  )
  return rows[0]?.windowS ?? 0
}
