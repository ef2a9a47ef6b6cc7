// Passwords of links, against those who guess from many networks.
//
// No limit can hold for all strangers together: it would let any of them lock out everyone who knows the password. So each
// network has its own attempts a day, and fewer once many networks were wrong about the link. Visitors who know the password
// get in at the first attempt, whatever others do, unless they share a network with a guesser. An attempt is counted
// before the password is checked, so attempts at the same time are not more than one after another.
import { hash as sha256 } from 'node:crypto'
import { sql } from 'kysely'
import type { Db } from '../../db/open.ts'
import { verifyPassword } from '../accounts/password-hash.ts'
import type { KnownLocker } from './lockers.ts'

const WRONG_A_DAY = 20
/** Once this many networks were wrong on a day… */
const MANY_NETWORKS = 100
/** …each has this many. */
const WRONG_A_DAY_OF_MANY = 3

export type PasswordResult = 'right' | 'wrong' | 'too_many'

/** `network` as `networkOf` gives it. Only a hash of it is stored, which differs between links. */
export async function enterPassword(
  db: Db,
  { lockerId, passwordHash: hash }: KnownLocker,
  network: string,
  password: string,
): Promise<PasswordResult> {
  if (hash === null) return 'right'
  const stored = sha256('sha256', `${hash}\n${network}`, 'base64url')
  const { rows } = await sql<{ day: string; attempts: number }>`
    INSERT INTO locker_wrong_passwords AS one (day, locker_id, network, attempts)
    VALUES ((now() AT TIME ZONE 'UTC')::date, ${lockerId}, ${stored}, 1)
    ON CONFLICT (day, locker_id, network) DO UPDATE SET attempts = least(one.attempts + 1, ${WRONG_A_DAY + 1})
    RETURNING day::text, attempts`.execute(db)
  const { day, attempts } = rows[0] as (typeof rows)[number]
  if (attempts > WRONG_A_DAY) return 'too_many'
  if (attempts > WRONG_A_DAY_OF_MANY && (await wereManyWrong(db, lockerId, day))) return 'too_many'
  if (!(await verifyPassword({ hash, password }))) return 'wrong'
  await sql`DELETE FROM locker_wrong_passwords WHERE day = ${day}::date AND locker_id = ${lockerId} AND network = ${stored}`.execute(db) // prettier-ignore
  return 'right'
}

async function wereManyWrong(db: Db, lockerId: number, day: string): Promise<boolean> {
  const { rows } = await sql<{ networks: number }>`
    SELECT count(*)::integer AS networks FROM (
      SELECT FROM locker_wrong_passwords WHERE day = ${day}::date AND locker_id = ${lockerId} LIMIT ${sql.lit(MANY_NETWORKS)}
    ) AS found`.execute(db)
  return rows[0]?.networks === MANY_NETWORKS
}
