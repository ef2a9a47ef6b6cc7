// Warnings before an offer reaches a cap: at 80 %, once a day for daily caps, once for total ones until they are raised. The
// advertiser's people and the operators are mailed.
import { sql } from 'kysely'
import { type Db, inTransaction, type Trx } from '../../db/open.ts'
import { type Network, queueMail, type Writer } from '../accounts/mails.ts'
import { dayNumber, startOf, TOTAL } from './caps.ts'

const NEAR_PERCENT = 80
const KEPT_DAYS = 7

/** Of a usage row `u` and its offer `o`: each cap, and what is used of it. */
const CAPS = [
  { what: 'clicks', isDaily: true, cap: sql`o.daily_click_cap`, used: sql`u.clicks` },
  { what: 'conversions', isDaily: true, cap: sql`o.daily_conversion_cap`, used: sql`u.conversions` },
  { what: 'payout', isDaily: true, cap: sql`o.daily_payout_cap_micros`, used: sql`u.payout_micros` },
  { what: 'revenue', isDaily: true, cap: sql`o.daily_revenue_cap_micros`, used: sql`u.revenue_micros` },
  { what: 'clicks', isDaily: false, cap: sql`o.total_click_cap`, used: sql`u.clicks` },
  { what: 'conversions', isDaily: false, cap: sql`o.total_conversion_cap`, used: sql`u.conversions` },
  { what: 'payout', isDaily: false, cap: sql`o.total_payout_cap_micros`, used: sql`u.payout_micros` },
  { what: 'revenue', isDaily: false, cap: sql`o.total_revenue_cap_micros`, used: sql`u.revenue_micros` },
] as const

const isNear = sql.join(CAPS.map(({ isDaily, cap, used }) => sql`((u.day <> ${sql.lit(TOTAL)}) = ${sql.lit(isDaily)} AND ${used} * 100 >= ${cap} * ${sql.lit(NEAR_PERCENT)})`), sql` OR `) // prettier-ignore

/** Mails what is new; returns how many offers that are. */
export async function warnOfCaps(db: Db, now: Date): Promise<number> {
  const today = dayNumber(now)
  return inTransaction(db, async (trx) => {
    await sql`DELETE FROM cap_warnings w WHERE (w.day <> ${TOTAL} AND w.day < ${today - KEPT_DAYS}) OR (w.day IN (${TOTAL}, ${today}) AND NOT EXISTS (
      SELECT FROM offer_usage u JOIN offers o USING (offer_id) WHERE u.offer_id = w.offer_id AND u.day = w.day AND o.is_capped AND (${isNear})))`.execute(trx) // prettier-ignore
    const { rows } = await sql<{ offer_id: number; day: number }>`INSERT INTO cap_warnings (offer_id, day)
      SELECT u.offer_id, u.day FROM offer_usage u JOIN offers o USING (offer_id)
      WHERE o.is_capped AND o.status = 'active' AND u.day IN (${TOTAL}, ${today}) AND (${isNear})
      ORDER BY 1, 2 ON CONFLICT DO NOTHING RETURNING offer_id, day`.execute(trx)
    const untilOf = (day: number) => (day === TOTAL ? new Date(now.getTime() + 3 * 86_400_000) : startOf(day + 1))
    for (const { offer_id, day } of rows)
      await queueMail(trx, { kind: 'cap_warning', about: `${offer_id}:${day}`, expiresAt: untilOf(day) })
    return rows.length
  })
}

type Found = { name: string; advertiser_id: number; day: number; clicks: number | null; conversions: number | null; payout: number | null; revenue: number | null } // prettier-ignore

export const capWarningWriter = ({ publicUrl }: Pick<Network, 'publicUrl'>): Writer => ({
  async findRecipients(trx, about) {
    const found = await find(trx, about)
    if (found === undefined) return []
    const people = await trx
      .selectFrom('people')
      .select('email')
      .where('disabled_at', 'is', null)
      .where((is) => is.or([is('role', '=', 'operator'), is('advertiser_id', '=', found.advertiser_id)]))
      .orderBy('created_at')
      .execute()
    return people.map(({ email }) => email)
  },
  async write(trx, about) {
    const found = await find(trx, about)
    if (found === undefined) return null
    const when = found.day === TOTAL ? 'in total' : 'today (UTC)'
    const lines = [
      ...(found.clicks === null ? [] : [`Clicks: ${found.clicks} % of the cap ${when}`]),
      ...(found.conversions === null ? [] : [`Conversions: ${found.conversions} % of the cap ${when}`]),
      ...(found.payout === null ? [] : [`Payout: ${found.payout} % of the cap ${when}`]),
      ...(found.revenue === null ? [] : [`Spend: ${found.revenue} % of the cap ${when}`]),
    ]
    const then = found.day === TOTAL ? 'until the cap is raised' : 'until midnight UTC'
    return {
      subject: `${found.name} is close to a cap`,
      text: `${found.name} has used most of a cap:\n\n${lines.join('\n')}\n\nWhen it is used up, the offer is closed ${then}.\n\nNetwork: ${publicUrl}\n`,
    }
  },
})

/** As it is when the mail is written; nothing where it is not near any more. */
async function find(trx: Trx, about: string): Promise<Found | undefined> {
  const [offerId, day] = about.split(':').map(Number)
  const percentOf = (what: string) => sql.join(CAPS.filter((one) => one.what === what).map(({ isDaily, cap, used }) => sql`CASE WHEN (u.day <> ${sql.lit(TOTAL)}) = ${sql.lit(isDaily)} AND ${used} * 100 >= ${cap} * ${sql.lit(NEAR_PERCENT)} THEN floor(${used} * 100.0 / greatest(${cap}, 1))::integer END`)) // prettier-ignore
  const { rows } = await sql<Found>`SELECT o.name, o.advertiser_id, u.day, coalesce(${percentOf('clicks')}) AS clicks,
      coalesce(${percentOf('conversions')}) AS conversions, coalesce(${percentOf('payout')}) AS payout, coalesce(${percentOf('revenue')}) AS revenue
    FROM cap_warnings w JOIN offer_usage u USING (offer_id, day) JOIN offers o USING (offer_id)
    WHERE w.offer_id = ${offerId} AND w.day = ${day} AND o.is_capped AND (${isNear})`.execute(trx)
  return rows[0]
}
