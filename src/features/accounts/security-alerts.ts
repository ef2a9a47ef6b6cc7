// Security mails: whoever an entry of the audit log concerns hears of it, however the change was made. The database queues
// such entries together with the change (queue_security_alert); a worker sends the mails.
import type { Db, Trx } from '../../db/open.ts'
import { isUuid } from '../../lib/uuid7.ts'
import type { Mailer } from '../../lib/mail.ts'

const BATCH = 50
const FIRST_WAIT_MS = 10_000 // then twice as long, each time
const LATE_MS = 3 * 86_400_000 // what could not be sent by then is dropped; the audit log has it for good

type Entry = {
  audit_id: number
  created_at: Date
  who: string
  action: string
  subject: string
  details: unknown
  ip: string | null
  via: string | null
  tries: number
}

/** self: the person whom the entry is about. owners: of the app's publisher. operators: all of them. */
type Alert = { to: 'self' | 'owners' | 'operators'; subject: string; says: (entry: Entry) => string }

const detail = (entry: Entry, name: string) => String((entry.details as Record<string, unknown>)[name] ?? '')

const ALERTS: Record<string, Alert> = {
  'session.start': {
    to: 'self',
    subject: 'New sign-in to your account',
    says: () => 'Somebody signed in to your account from a network that was not used before.',
  },
  'password.change': { to: 'self', subject: 'Your password was changed', says: () => 'Your password was changed.' },
  'password.reset': {
    to: 'self',
    subject: 'Your password was reset',
    says: () => 'Your password was set with a reset link. You were signed out everywhere, and your API tokens ended.',
  },
  'two_factor.enable': {
    to: 'self',
    subject: 'Two-factor sign-in was enabled',
    says: () => 'Two-factor sign-in was enabled for your account.',
  },
  'two_factor.disable': {
    to: 'self',
    subject: 'Two-factor sign-in was disabled',
    says: () => 'Two-factor sign-in was disabled for your account.',
  },
  'user.reset_two_factor': {
    to: 'self',
    subject: 'Two-factor sign-in was disabled',
    says: () => 'An operator removed the second factor of your account.',
  },
  'token.create': {
    to: 'self',
    subject: 'An API token was created',
    says: (entry) => `The API token "${detail(entry, 'name')}" was created for your account.`,
  },
  'app.rotate_secret': {
    to: 'owners',
    subject: 'An API secret was rotated',
    says: ({ subject }) => `The API secret of app ${subject} was rotated.`,
  },
  'app.rotate_signing_secret': {
    to: 'owners',
    subject: 'A signing secret was rotated',
    says: ({ subject }) => `The signing secret of app ${subject} was rotated.`,
  },
  'postback_settings.save': {
    to: 'owners',
    subject: 'A postback URL was changed',
    says: (entry) => `Postbacks of app ${entry.subject} now go to ${detail(entry, 'server')}.`,
  },
  'postback_settings.remove': {
    to: 'owners',
    subject: 'A postback URL was removed',
    says: ({ subject }) => `App ${subject} has no postback URL any more.`,
  },
  'app.set_postback': {
    to: 'owners',
    subject: 'A postback URL was changed',
    says: ({ subject }) => `The postback URL of app ${subject} was changed.`,
  },
  'advertiser.rotate_token': {
    to: 'operators',
    subject: 'A token of an advertiser was rotated',
    says: ({ subject }) => `The token of advertiser ${subject} was rotated.`,
  },
}

/**
 * Mails what is due, one by one, each for this worker alone. It is taken out after it was handed over: once more is better
 * than never. Without a mailer nothing is sent, and what is late is dropped.
 */
export async function mailSecurityAlerts(db: Db, mailer: Mailer | null, publicUrl: string, now: Date): Promise<number> {
  await db
    .deleteFrom('security_alerts')
    .where('created_at', '<', new Date(now.getTime() - LATE_MS))
    .execute()
  if (mailer === null) return 0
  const failures: unknown[] = []
  let sent = 0
  while (sent + failures.length < BATCH) {
    const found = await db.transaction().execute(async (trx) => {
      const entry = await nextEntry(trx, now)
      if (entry === undefined) return false
      try {
        await mail(trx, mailer, publicUrl, entry)
        await trx.deleteFrom('security_alerts').where('audit_id', '=', entry.audit_id).execute()
        sent++
      } catch (error) {
        failures.push(error)
        const due = new Date(now.getTime() + FIRST_WAIT_MS * 2 ** entry.tries)
        await trx
          .updateTable('security_alerts')
          .set({ tries: entry.tries + 1, due_at: due })
          .where('audit_id', '=', entry.audit_id)
          .execute()
      }
      return true
    })
    if (!found) break
  }
  if (failures.length > 0) throw failures[0]
  return sent
}

const nextEntry = (trx: Trx, now: Date): Promise<Entry | undefined> =>
  trx
    .selectFrom('security_alerts')
    .innerJoin('audit_log', 'audit_log.audit_id', 'security_alerts.audit_id')
    .select(['audit_log.audit_id', 'audit_log.created_at', 'who', 'action', 'subject', 'details', 'ip', 'via', 'tries'])
    .where('due_at', '<=', now)
    .orderBy('due_at')
    .limit(1)
    .forUpdate('security_alerts')
    .skipLocked()
    .executeTakeFirst()

async function mail(trx: Trx, mailer: Mailer, publicUrl: string, entry: Entry): Promise<void> {
  const alert = ALERTS[entry.action]
  const recipients = alert === undefined ? [] : await recipientsOf(trx, alert, entry)
  if (alert === undefined || recipients.length === 0) return
  const facts = [
    `Time: ${entry.created_at.toISOString().replace('T', ' ').slice(0, 19)} UTC`,
    `By: ${entry.who}${entry.via === null ? '' : ` (${entry.via})`}`,
    ...(entry.ip === null ? [] : [`From: ${entry.ip}`]),
    `Network: ${publicUrl}`,
  ]
  const advice =
    alert.to === 'self'
      ? `If this was not you, reset your password at ${publicUrl}/forgot-password and tell the operator of this network.`
      : 'If nobody of yours did this, disable the account that did, and rotate the secrets.'
  const text = `${alert.says(entry)}\n\n${facts.join('\n')}\n\n${advice}\n`
  await mailer.send({ to: recipients.join(', '), subject: alert.subject, text })
}

async function recipientsOf(trx: Trx, { to }: Alert, { subject }: Entry): Promise<string[]> {
  let query = trx.selectFrom('people').select('email').where('disabled_at', 'is', null)
  if (to === 'operators') query = query.where('role', '=', 'operator')
  else if (to === 'self') query = query.where(isUuid(subject) ? 'id' : 'email', '=', subject.toLowerCase())
  else if (!/^\d{1,15}$/.test(subject)) return []
  else
    query = query
      .where('role', '=', 'publisher_owner')
      .where('publisher_id', '=', (is) =>
        is.selectFrom('apps').select('publisher_id').where('app_id', '=', Number(subject)),
      )
  return (await query.orderBy('created_at').execute()).map(({ email }) => email)
}
