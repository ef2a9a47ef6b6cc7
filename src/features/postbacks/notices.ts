// Notices to publishers: listed for them, and emailed where there is a mail server and an email address. A trigger
// queues the email.
import { sql } from 'kysely'
import type { Db, Trx } from '../../db/open.ts'
import type { Writer } from '../accounts/mails.ts'

const FAILED = `A postback failed: none of its attempts was delivered. The delivery log shows which one and why. Once your server works, resend it from there. (You get this at most once a day.)`

/** Once a day per app. */
export async function noticeFailed(trx: Trx, appIds: readonly number[]): Promise<void> {
  if (appIds.length === 0) return
  await sql`
    INSERT INTO notices (app_id, kind, message)
    SELECT app_id, 'postbacks_failed', ${FAILED} FROM unnest(${appIds}::bigint[]) AS app (app_id)
    WHERE NOT EXISTS (
      SELECT FROM notices n
      WHERE n.app_id = app.app_id AND n.kind = 'postbacks_failed' AND n.created_at > now() - interval '1 day'
    )`.execute(trx)
}

const FORGOTTEN_AT_ONCE = 1_000

/** Notices are news: what is still wrong is on the app's page, and in the postback log. */
export async function forgetOldNotices(db: Db, now: Date, keepDays: number): Promise<void> {
  const before = new Date(now.getTime() - keepDays * 86_400_000)
  for (let gone = FORGOTTEN_AT_ONCE; gone === FORGOTTEN_AT_ONCE;) {
    const result = await sql`DELETE FROM notices WHERE notice_id IN (
      SELECT notice_id FROM (SELECT notice_id, created_at FROM notices ORDER BY notice_id LIMIT ${sql.lit(FORGOTTEN_AT_ONCE)}) AS oldest
      WHERE created_at < ${before})`.execute(db)
    gone = Number(result.numAffectedRows ?? 0)
  }
}

/** Filters are combined with AND; an absent one is ignored. */
export type NoticeFilter = {
  appId?: number
  /** Only those created before this one. */
  before?: number
}

const selectNotices = (db: Db) =>
  db
    .selectFrom('notices')
    .innerJoin('apps', 'apps.app_id', 'notices.app_id')
    .innerJoin('publishers', 'publishers.publisher_id', 'apps.publisher_id')
    .select([
      'notice_id',
      'notices.app_id',
      'apps.name as app',
      'notices.kind',
      'message',
      'notices.created_at',
      'email',
    ])

const withMails = (db: Db) =>
  selectNotices(db)
    .leftJoin('mails', (join) =>
      join.on('mails.kind', '=', 'notice').on('about', '=', sql<string>`notice_id::text`),
    )
    .select(['mails.status as mail_status', 'attempts as mail_attempts', 'settled_at as mail_settled_at', 'mails.failure as mail_failure']) // prettier-ignore
export type Notice = Awaited<ReturnType<ReturnType<typeof withMails>['execute']>>[number]

/** Newest first. */
export async function listNotices(db: Db, filter: NoticeFilter, limit: number): Promise<Notice[]> {
  let query = withMails(db)
  if (filter.appId !== undefined) query = query.where('notices.app_id', '=', filter.appId)
  if (filter.before !== undefined) query = query.where('notice_id', '<', filter.before)
  return query.orderBy('notice_id', 'desc').limit(limit).execute()
}

export const mailedAt = ({ mail_status, mail_settled_at }: Notice) => (mail_status === 'sent' ? mail_settled_at : null)

/** Why a notice was not emailed, or not yet; null when it was. */
export function whyNotMailed(notice: Notice, hasMailServer: boolean): string | null {
  const { mail_status: status, mail_attempts: attempts, mail_failure: failure } = notice
  if (status === 'sent') return null
  if (notice.email === null) return 'the publisher has no address'
  if (!hasMailServer) return 'SMTP_URL is not set here'
  if (status === null) return 'older than a day'
  if (status === 'failed') return `failed after ${attempts} attempts (${failure})`
  return failure === null || attempts === 0 ? 'waiting' : `failed ${attempts} times (${failure}), retrying`
}

export const noticeWriter = ({ publicUrl }: { publicUrl: string }): Writer => ({
  async findRecipients(trx, about) {
    const notice = await findNotice(trx, about)
    return notice === undefined ? [] : notice.email === null ? 'later' : [notice.email]
  },
  followsAddress: true,
  async write(trx, about) {
    const notice = await findNotice(trx, about)
    if (notice === undefined) return null
    return {
      subject: `${notice.app}: postbacks need your attention`,
      text: `${notice.message}\n\nApp: ${notice.app} (${notice.app_id})\nNetwork: ${publicUrl}\n`,
    }
  },
})

const findNotice = (trx: Trx, about: string) =>
  selectNotices(trx).where('notice_id', '=', Number(about)).executeTakeFirst()
