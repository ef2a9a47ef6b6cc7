// Security alerts: the person whom an audit entry concerns gets an email, however the change was made. The database
// queues the mail together with the change (queue_security_alert).
import type { Trx } from '../../db/open.ts'
import { isUuid } from '../../lib/uuid7.ts'
import type { Writer } from './mails.ts'

type Entry = {
  audit_id: number
  created_at: Date
  who: string
  action: string
  subject: string
  details: unknown
  ip: string | null
  via: string | null
}

/** self: the person whom the entry is about. owners: of the app's publisher. operators: all of them. */
type Alert = { to: 'self' | 'owners' | 'operators'; subject: string; says: (entry: Entry) => string }

const detail = (entry: Entry, name: string) => String((entry.details as Record<string, unknown>)[name] ?? '')

const ALERTS: Record<string, Alert> = {
  'session.start': {
    to: 'self',
    subject: 'New sign-in to your account',
    says: () => 'Someone signed in to your account from a new network.',
  },
  'password.change': { to: 'self', subject: 'Your password was changed', says: () => 'Your password was changed.' },
  'password.reset': {
    to: 'self',
    subject: 'Your password was reset',
    says: () =>
      'Your password was set with a reset link. You were signed out everywhere, and your API tokens were revoked.',
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
    says: ({ subject }) => `The postback URL of app ${subject} was removed.`,
  },
  'app.set_postback': {
    to: 'owners',
    subject: 'A postback URL was changed',
    says: ({ subject }) => `The postback URL of app ${subject} was changed.`,
  },
  'advertiser.rotate_token': {
    to: 'operators',
    subject: 'An advertiser’s token was rotated',
    says: ({ subject }) => `The token of advertiser ${subject} was rotated.`,
  },
}

export const alertWriter = ({ publicUrl }: { publicUrl: string }): Writer => ({
  async findRecipients(trx, auditId) {
    const entry = await findEntry(trx, auditId)
    const alert = ALERTS[entry?.action ?? '']
    return entry === undefined || alert === undefined ? [] : recipientsOf(trx, alert, entry)
  },
  async write(trx, auditId) {
    const entry = await findEntry(trx, auditId)
    const alert = ALERTS[entry?.action ?? '']
    if (entry === undefined || alert === undefined) return null
    const facts = [
      `Time: ${entry.created_at.toISOString().replace('T', ' ').slice(0, 19)} UTC`,
      `By: ${entry.who}${entry.via === null ? '' : ` (${entry.via})`}`,
      ...(entry.ip === null ? [] : [`From: ${entry.ip}`]),
      `Network: ${publicUrl}`,
    ]
    const advice =
      alert.to === 'self'
        ? `If this was not you, reset your password at ${publicUrl}/forgot-password and notify the operator.`
        : 'If no one on your team did this, disable the account that did, and rotate the secrets.'
    return { subject: alert.subject, text: `${alert.says(entry)}\n\n${facts.join('\n')}\n\n${advice}\n` }
  },
})

const findEntry = (trx: Trx, auditId: string): Promise<Entry | undefined> =>
  trx
    .selectFrom('audit_log')
    .select(['audit_id', 'created_at', 'who', 'action', 'subject', 'details', 'ip', 'via'])
    .where('audit_id', '=', Number(auditId))
    .executeTakeFirst()

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
