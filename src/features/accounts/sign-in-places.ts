// The places a person has signed in from, so that a sign-in from a new one sends an alert. A place is a network (IPv4
// /24, IPv6 /48): the address of a phone or an office changes within it.
import { sql } from 'kysely'
import type { Trx } from '../../db/open.ts'
import { plainAddress } from '../../lib/ip-address.ts'

const MAX_PLACES = 50

/** Whether it is a new place. */
export async function noteSignInPlace(trx: Trx, personId: string, ip: string, now: Date): Promise<boolean> {
  const address = plainAddress(ip)
  if (address === null) return false
  const { rows } = await sql<{ is_new: boolean }>`
    INSERT INTO sign_in_places (person_id, network, seen_at)
    SELECT ${personId}, text(network(set_masklen(ip, CASE family(ip) WHEN 4 THEN 24 ELSE 48 END))), ${now}
    FROM (SELECT ${address}::inet AS ip) one
    ON CONFLICT (person_id, network) DO UPDATE SET seen_at = excluded.seen_at
    RETURNING xmax = 0 AS is_new`.execute(trx)
  await sql`
    DELETE FROM sign_in_places WHERE person_id = ${personId} AND network IN (
      SELECT network FROM sign_in_places WHERE person_id = ${personId} ORDER BY seen_at DESC OFFSET ${MAX_PLACES})`.execute(
    trx,
  )
  return rows[0]?.is_new ?? false
}
