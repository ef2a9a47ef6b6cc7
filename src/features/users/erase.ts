// Works off erasures, in short transactions, one process at a time. Each step can be repeated, so that a crash anywhere
// changes nothing but the time.
//
//   waiting  ---- no postback of the user waits, or three days have passed ---->  first pass
//   settling ---- ten minutes later, and again while a pass finds something ---->  next pass
//   done:    the plain ID is gone; what waited in a spool is recognised by its keyed hash (apps/erased-users.ts)
//
// A pass goes through everything. What was written while it went, by requests and deliveries that were under way, is
// found by the next.
import { sql } from 'kysely'
import { LOCKS } from '../../db/locks.ts'
import type { Db, Trx } from '../../db/open.ts'
import { tryLock } from '../../db/try-lock.ts'
import { eraseLogs } from './erase-logs.ts'
import { eraseBalance, moveOffers } from './erase-money.ts'
import { eraseTraces } from './erase-traces.ts'
import type { Job, Step } from './erasure-step.ts'
import { countWaitingPostbacks, POSTBACK_WAIT_MS } from './erasures.ts'

const LOOK_AGAIN_MS = 10_000
/** Longer than any request, delivery or batch is under way. */
export const SETTLE_MS = 600_000
/** A user who goes on meanwhile must not keep it from ending. */
const MAX_PASSES = 6

/** Another process does it, or has done it. */
class NotOurs extends Error {}

/** Returns how many erasures it looked at. */
export async function eraseUsers(db: Db, now: Date): Promise<number> {
  for (let looked = 0; ; looked++) {
    const due = await db
      .selectFrom('erasures')
      .select([
        'erasure_id',
        'app_id',
        'is_test',
        'user_id',
        'pseudonym',
        'more_pseudonyms',
        'requested_at',
        'erased_at',
        'passes',
      ]) // prettier-ignore
      .where('done_at', 'is', null)
      .where('due_at', '<=', now)
      .orderBy('due_at')
      .limit(1)
      .executeTakeFirst()
    if (due === undefined || due.user_id === null) return looked
    const user = { appId: due.app_id, isTest: due.is_test, userId: due.user_id }
    const job = { erasureId: due.erasure_id, user, pseudonym: due.pseudonym, more: [...due.more_pseudonyms] }
    const mayWait = due.erased_at === null && now.getTime() < due.requested_at.getTime() + POSTBACK_WAIT_MS
    if (mayWait && (await countWaitingPostbacks(db, user)) > 0) {
      await setDue(db, job.erasureId, new Date(now.getTime() + LOOK_AGAIN_MS))
      continue
    }
    try {
      await eraseOnce(db, job, due.passes + 1, now)
    } catch (error) {
      if (error instanceof NotOurs) return looked
      throw error
    }
  }
}

const setDue = (db: Db, erasureId: number, dueAt: Date) =>
  db.updateTable('erasures').set({ due_at: dueAt }).where('erasure_id', '=', erasureId).execute()

async function eraseOnce(db: Db, job: Job, pass: number, now: Date): Promise<void> {
  const step: Step = (kind, work) => db.transaction().execute((trx) => inErasure(trx, job.erasureId, kind, work))
  const found = [await moveOffers(db, step, job), await eraseBalance(step, job), await eraseTraces(db, step, job)]
  found.push(await eraseLogs(db, step, job))
  const isDone = pass > 1 && (pass >= MAX_PASSES || found.every((count) => count === 0))
  await step('passes', async (trx) => {
    await sql`UPDATE erasure_moves SET moves = moves + 1`.execute(trx) // processes forget what they remember
    await trx
      .updateTable('erasures')
      .set((is) => ({
        passes: pass,
        erased_at: is.fn.coalesce('erased_at', is.val(now)),
        due_at: new Date(now.getTime() + SETTLE_MS),
        ...(isDone ? { done_at: now, user_id: null } : {}),
      }))
      .where('erasure_id', '=', job.erasureId)
      .execute()
    return 0
  })
}

async function inErasure(
  trx: Trx,
  erasureId: number,
  kind: string,
  work: (trx: Trx) => Promise<number>,
): Promise<number> {
  if (!(await tryLock(trx, LOCKS.erasures))) throw new NotOurs()
  const { rows } = await sql`SELECT set_config('offerdeck.erasure', ${String(erasureId)}, true)
    FROM erasures WHERE erasure_id = ${erasureId} AND done_at IS NULL`.execute(trx)
  if (rows.length === 0) throw new NotOurs()
  const count = await work(trx)
  if (count > 0)
    await sql`UPDATE erasures SET counts = counts || jsonb_build_object(${kind}::text, coalesce((counts->>${kind}::text)::bigint, 0) + ${count}::bigint)
      WHERE erasure_id = ${erasureId}`.execute(trx)
  return count
}
