// Notices to publishers: listed for them, and mailed where there is a mail server and an address.
import { createTransport } from 'nodemailer'
import type { Db, Trx } from '../../db/open.ts'

const BATCH = 20
const MAX_TRIES = 50
const SEND_MS = 20_000

export type Mail = { to: string; subject: string; text: string }
export type Mailer = { send(mail: Mail): Promise<void>; close(): void }

export function createMailer(smtpUrl: string, from: string): Mailer {
  const transport = createTransport(
    { url: smtpUrl, connectionTimeout: SEND_MS, greetingTimeout: SEND_MS, socketTimeout: SEND_MS },
    { from },
  )
  return {
    async send(mail) {
      await transport.sendMail(mail)
    },
    close: () => transport.close(),
  }
}

/** Newest first. */
export async function listNotices(db: Db, appId: number, limit: number) {
  return db
    .selectFrom('notices')
    .select(['notice_id', 'app_id', 'kind', 'message', 'created_at', 'mailed_at'])
    .where('app_id', '=', appId)
    .orderBy('notice_id', 'desc')
    .limit(limit)
    .execute()
}

/**
 * Mails what has not been mailed, one by one, each for this worker alone. It is marked as mailed after it was handed over:
 * once more is better than never. What the mail server refuses waits behind the others, and is given up in the end.
 */
export async function mailNotices(db: Db, mailer: Mailer, publicUrl: string, now: Date): Promise<number> {
  const failures: unknown[] = []
  const tried: number[] = []
  while (tried.length < BATCH) {
    const found = await db.transaction().execute(async (trx) => {
      const notice = await nextNotice(trx, tried)
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

const nextNotice = (trx: Trx, tried: number[]) =>
  trx
    .selectFrom('notices')
    .innerJoin('apps', 'apps.app_id', 'notices.app_id')
    .innerJoin('publishers', 'publishers.publisher_id', 'apps.publisher_id')
    .select(['notice_id', 'message', 'mail_tries', 'apps.name as app', 'apps.app_id', 'email'])
    .where('mailed_at', 'is', null)
    .where('mail_tries', '<', MAX_TRIES)
    .where('email', 'is not', null)
    .where((is) => is.not(is('notice_id', '=', is.fn.any(is.val(tried)))))
    .orderBy('mail_tries')
    .orderBy('notice_id')
    .limit(1)
    .forUpdate('notices')
    .skipLocked()
    .executeTakeFirst()
