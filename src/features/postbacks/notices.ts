// Notices to publishers: listed for them, and mailed where there is a mail server and an address.
import { createTransport } from 'nodemailer'
import type { Db } from '../../db/open.ts'

const BATCH = 20
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

/** Mails what has not been mailed. A notice is marked as mailed after it was handed over: once more is better than never. */
export async function mailNotices(db: Db, mailer: Mailer, publicUrl: string, now: Date): Promise<number> {
  const rows = await db
    .selectFrom('notices')
    .innerJoin('apps', 'apps.app_id', 'notices.app_id')
    .innerJoin('publishers', 'publishers.publisher_id', 'apps.publisher_id')
    .select(['notice_id', 'message', 'apps.name as app', 'apps.app_id', 'email'])
    .where('mailed_at', 'is', null)
    .where('email', 'is not', null)
    .orderBy('notice_id')
    .limit(BATCH)
    .execute()
  for (const { notice_id, message, app, app_id, email } of rows) {
    const text = `${message}\n\nApp: ${app} (${app_id})\nNetwork: ${publicUrl}\n`
    await mailer.send({ to: email ?? '', subject: `${app}: postbacks need your attention`, text })
    await db.updateTable('notices').set({ mailed_at: now }).where('notice_id', '=', notice_id).execute()
  }
  return rows.length
}
