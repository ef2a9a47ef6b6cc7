// Resends one postback. Many of an app: replays.ts.
import { sql } from 'kysely'
import { briefly } from '../../db/brief.ts'
import type { Db, Trx } from '../../db/open.ts'
import { type Actor, recordAudit } from '../accounts/audit.ts'
import { findPostback, type Postback, type Viewer } from './postbacks.ts'
import { isBeingSent, isForgotten } from './replays.ts'

export type Replayed = {
  postback: Postback
  /** What to know before it arrives, as a sentence. */
  warning: string | null
}

/**
 * Resends a postback now, with all its attempts. One that is being sent at this moment starts over if that fails. `by` is
 * null for the app itself, which asks by its API key.
 */
export async function replayPostback(
  db: Db,
  by: Actor | null,
  postbackId: string,
  owner: Viewer,
): Promise<Replayed | null> {
  const found = await findPostback(db, postbackId, owner)
  if (found === null) return null
  await briefly(db, async (trx) => {
    await sql`
      INSERT INTO postback_queue AS q (app_id, postback_id, conversion_id, sequence, status, is_test, scenario, attempts, is_replay)
      SELECT app_id, postback_id, conversion_id, sequence, status, is_test, scenario, attempts, true
      FROM postbacks WHERE postback_id = ${postbackId}
      ON CONFLICT (app_id, postback_id) DO UPDATE SET
        is_replay = true, replay_id = NULL, priority = least(q.priority, 0),
        state = CASE WHEN q.state = 'later' THEN 'ready' ELSE q.state END,
        due_at = CASE WHEN q.state = 'sending' THEN q.due_at ELSE now() END,
        tries = CASE WHEN q.state = 'sending' THEN q.tries ELSE 0 END,
        on_failure = CASE WHEN q.state = 'sending' THEN 'restart' END`.execute(trx)
    if (by !== null) await recordReplay(trx, by, found)
  })
  const postback = (await findPostback(db, postbackId, owner)) ?? found
  return { postback, warning: await warnOfLater(db, postback) }
}

async function recordReplay(trx: Trx, by: Actor, { postback_id, app_id }: Postback): Promise<void> {
  const app = await trx.selectFrom('apps').select('publisher_id').where('app_id', '=', app_id).executeTakeFirst()
  const entry = { action: 'postback.replay', subject: postback_id, publisherId: app?.publisher_id ?? null }
  await recordAudit(trx, by, { ...entry, details: { app_id } })
}

/** If the receiver already knows a later status of the conversion, this one must not be the last it gets. */
async function warnOfLater(db: Db, { conversion_id, sequence }: Postback): Promise<string | null> {
  const later = await db
    .selectFrom('conversion_events as e')
    .leftJoin('postbacks as p', 'p.postback_id', 'e.event_id')
    .select(['e.status', 'p.postback_id', isBeingSent('p').as('is_being_sent')])
    .where('e.conversion_id', '=', conversion_id)
    .where('e.sequence', '>', sequence)
    .where((is) => is.or([is('p.state', '=', 'delivered'), isBeingSent('p'), isForgotten('p')]))
    .orderBy('e.sequence', 'desc')
    .executeTakeFirst()
  if (later === undefined) return null
  return later.postback_id === null
    ? `The postback of a later event of this conversion (${later.status}) is no longer kept. Unless your server orders events by sequence, the older status wins.`
    : `A later event of this conversion (${later.status}) ${later.is_being_sent ? 'is being sent at this moment' : 'was already delivered'}. Unless your server orders events by sequence, the older status wins: resend the later postback, too.`
}
