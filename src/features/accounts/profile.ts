// A person's name, and how the dashboard shows times and numbers to them.
import { badRequest } from '../../errors.ts'
import type { Db, Trx } from '../../db/open.ts'
import { isTimeZone } from '../../lib/time-zone.ts'
import { type Actor, recordAudit } from './audit.ts'
import { checkName } from './people.ts'

export const THEMES = ['system', 'light', 'dark'] as const

/** A time zone (IANA) or locale (BCP 47) of null is that of the browser. */
export type Profile = {
  name: string
  time_zone: string | null
  locale: string | null
  theme: (typeof THEMES)[number]
}

export async function readProfile(db: Db, personId: string) {
  const person = await db
    .selectFrom('people')
    .select(['time_zone', 'locale', 'theme', 'email_verified'])
    .where('id', '=', personId)
    .executeTakeFirstOrThrow()
  return { ...person, theme: person.theme as Profile['theme'] }
}

/** Absent fields keep their values. */
export async function changeProfile(
  trx: Trx,
  by: Actor & { id: string },
  publisherId: number | null,
  given: Partial<Profile>,
): Promise<void> {
  const now = await trx
    .selectFrom('people')
    .select(['name', 'time_zone', 'locale', 'theme'])
    .where('id', '=', by.id)
    .executeTakeFirstOrThrow()
  const change = Object.fromEntries(
    Object.entries({ ...given, ...checkProfile(given) }).filter(
      ([field, value]) => now[field as keyof Profile] !== value,
    ),
  )
  if (Object.keys(change).length === 0) return
  // In this order: the audit log shares a lock on the person, and two changes at once would wait for each other.
  await trx.updateTable('people').set(change).where('id', '=', by.id).execute()
  await recordAudit(trx, by, { action: 'profile.change', subject: by.id, publisherId, details: change })
}

function checkProfile({ name, time_zone, locale }: Partial<Profile>): Partial<Profile> {
  const details: Record<string, string> = {}
  if (time_zone != null && !isTimeZone(time_zone))
    details['time_zone'] = 'Use the name of a time zone, such as Europe/Berlin or UTC.'
  if (locale != null && !isLocale(locale)) details['locale'] = 'Use a language tag, such as en-US or de-DE.'
  if (Object.keys(details).length > 0) throw badRequest(details)
  return name === undefined ? {} : { name: checkName(name) }
}

/** A language and a region. Not how to write digits, or a calendar, which a tag can say as well. */
function isLocale(tag: string): boolean {
  try {
    return new Intl.Locale(tag).baseName === tag && Intl.NumberFormat.supportedLocalesOf(tag).length > 0
  } catch {
    return false
  }
}
