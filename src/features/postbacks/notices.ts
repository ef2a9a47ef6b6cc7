// Notices to publishers: listed for them, and mailed where there is a mail server and an address.
import { sql } from 'kysely'
import type { Db, Trx } from '../../db/open.ts'
import type { Mailer } from '../../lib/mail.ts'

const BATCH = 20
const FIRST_WAIT_S = 10 // then twice as long, each time
const NEWS_MS = 24 * 60 * 60 * 1_000 // who gets an address today is not told of last month

const GIVEN_UP = `A postback could not be delivered and was given up after all its attempts. The log of postbacks shows which and why. Once your server works, send it again from there. (You get this at most once a day.)`

/** Once a day for each app. */
export async function noticeGivenUp(trx: Trx, appIds: readonly number[]): Promise<void> {
  if (appIds.length === 0) return
  await sql`
    INSERT INTO notices (app_id, kind, message)
    SELECT app_id, 'postbacks_given_up', ${GIVEN_UP} FROM unnest(${appIds}::bigint[]) AS app (app_id)
    WHERE NOT EXISTS (
      SELECT FROM notices n
      WHERE n.app_id = app.app_id AND n.kind = 'postbacks_given_up' AND n.created_at > now() - interval '1 day'
    )`.execute(trx)
}

/** Every part narrows; what is absent does not. */
export type NoticeFilter = {
  appId?: number
  /** Only those made before this one. */
  before?: number
}

const selectNotices = (db: Db) =>
  db
    .selectFrom('notices')
    .innerJoin('apps', 'apps.app_id', 'notices.app_id')
    .innerJoin('publishers', 'publishers.publisher_id', 'apps.publisher_id')
    .select(['notice_id', 'notices.app_id', 'apps.name as app', 'kind', 'message', 'notices.created_at'])
    .select(['mailed_at', 'mail_tries', 'email'])
export type Notice = Awaited<ReturnType<ReturnType<typeof selectNotices>['execute']>>[number]

/** Newest first. */
export async function listNotices(db: Db, filter: NoticeFilter, limit: number): Promise<Notice[]> {
  let query = selectNotices(db)
  if (filter.appId !== undefined) query = query.where('notices.app_id', '=', filter.appId)
  if (filter.before !== undefined) query = query.where('notice_id', '<', filter.before)
  return query.orderBy('notice_id', 'desc').limit(limit).execute()
}

/** Why a notice was not mailed, or not yet; null when it was. */
export function whyNotMailed(notice: Notice, hasMailServer: boolean, now: Date): string | null {
  if (notice.mailed_at !== null) return null
  if (notice.email === null) return 'the publisher has no address'
  if (!hasMailServer) return 'SMTP_URL is not set here'
  if (notice.created_at <= oldestNews(now)) return 'older than a day'
  return notice.mail_tries === 0 ? 'waiting' : `failed ${notice.mail_tries} times, tried again`
}

const oldestNews = (now: Date) => new Date(now.getTime() - NEWS_MS)

/**
 * Mails what has not been mailed, one by one, each for this worker alone. It is marked as mailed after it was handed over:
 * once more is better than never. What the mail server refuses waits behind the others, longer each time. What is older than a
 * day is only listed.
 */
export async function mailNotices(db: Db, mailer: Mailer, publicUrl: string, now: Date): Promise<number> {
  const failures: unknown[] = []
  const tried: number[] = []
  while (tried.length < BATCH) {
    const found = await db.transaction().execute(async (trx) => {
      const notice = await nextNotice(trx, tried, now)
      if (notice === undefined) return false
      tried.push(notice.notice_id)
      const text = `${notice.message}\n\nApp: ${notice.app} (${notice.app_id})\nNetwork: ${publicUrl}\n`
      const subject = `${notice.app}: postbacks need your attention`
      const change = await mailer.send({ to: notice.email ?? '', subject, text }).then(
        () => ({ mailed_at: now }),
        (error: unknown) => {
          failures.push(error)
          return { mail_tries: notice.mail_tries + 1 }
        },
      )
      await trx.updateTable('notices').set(change).where('notice_id', '=', notice.notice_id).execute()
      return true
    })
    if (!found) break
  }
  if (failures.length > 0) throw failures[0]
  return tried.length
}

const nextNotice = (trx: Trx, tried: number[], now: Date) =>
  selectNotices(trx)
    .where('mailed_at', 'is', null)
    .where('notices.created_at', '>', oldestNews(now))
    .where(
      sql<boolean>`(mail_tries = 0 OR notices.created_at + (power(2, mail_tries) - 1) * ${FIRST_WAIT_S} * interval '1 second' <= ${now})`,
    )
    .where('email', 'is not', null)
    .where((is) => is.not(is('notice_id', '=', is.fn.any(is.val(tried)))))
    .orderBy('mail_tries')
    .orderBy('notice_id')
    .limit(1)
    .forUpdate('notices')
    .skipLocked()
    .executeTakeFirst()
