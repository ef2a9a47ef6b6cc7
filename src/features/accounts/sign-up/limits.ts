// Limits against floods of sign-ups, counted in the database: they hold for all processes together, and after a restart.
import { sql } from 'kysely'
import { LOCKS } from '../../../db/locks.ts'
import type { Db, Trx } from '../../../db/open.ts'
import { AppError } from '../../../errors.ts'
import { mailboxOf } from '../email.ts'

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
const FROM_ADDRESS = 5 // an hour; of IPv6 a /64 is one address
const FROM_NETWORK = 20 // an hour; a network is an IPv4 /24 or an IPv6 /48
const TO_MAILBOX = 3 // a day

/** Sign-ups take turns from here on, so that limits hold, and one address gets one account. */
export const lockSignUps = (trx: Trx) => sql`SELECT pg_advisory_xact_lock(${sql.lit(LOCKS.signUps)})`.execute(trx)

export async function checkFlood(
  db: Db,
  { ip, perHour }: { ip: string | null; perHour: number },
  now: Date,
): Promise<void> {
  const within = (bits4: number, bits6: number) =>
    sql`network(set_masklen(ip::inet, CASE family(ip::inet) WHEN 4 THEN ${sql.lit(bits4)} ELSE ${sql.lit(bits6)} END)) >>= ${ip}::inet`
  const { rows } = await sql<{ from_address: number; from_network: number; all: number }>`
    SELECT count(*) FILTER (WHERE ${within(32, 64)}) AS from_address,
           count(*) FILTER (WHERE ${within(24, 48)}) AS from_network, count(*) AS all
    FROM applications WHERE created_at > ${new Date(now.getTime() - HOUR_MS)}`.execute(db)
  const { from_address = 0, from_network = 0, all = 0 } = rows[0] ?? {}
  if (from_address >= FROM_ADDRESS || from_network >= FROM_NETWORK)
    throw new AppError('RATE_LIMIT_EXCEEDED', 'Too many sign-ups from your network. Try again in an hour.')
  if (all >= perHour)
    throw new AppError('RATE_LIMIT_EXCEEDED', 'Too many people are signing up right now. Try again in an hour.')
}

export async function isMailboxFull(trx: Trx, email: string, now: Date): Promise<boolean> {
  const { rows } = await sql<{ count: number }>`
    SELECT count(*) FROM applications WHERE ${mailboxOf(sql`email`)} = ${mailboxOf(sql`${email}::text`)}
      AND created_at > ${new Date(now.getTime() - DAY_MS)}`.execute(trx)
  return (rows[0]?.count ?? 0) >= TO_MAILBOX
}

export async function countSignUps(db: Db, now: Date): Promise<{ lastHour: number; unverified: number }> {
  const { rows } = await sql<{ last_hour: number; unverified: number }>`
    SELECT (SELECT count(*) FROM applications WHERE created_at > ${new Date(now.getTime() - HOUR_MS)}) AS last_hour,
           (SELECT count(*) FROM applications WHERE status = 'unverified') AS unverified`.execute(db)
  return { lastHour: rows[0]?.last_hour ?? 0, unverified: rows[0]?.unverified ?? 0 }
}
