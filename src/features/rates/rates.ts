// What other currencies are worth in US dollars. A rate counts from its day until the next one, so what was earned on a
// day is worth the same whenever it is calculated.
import { createHash } from 'node:crypto'
import { sql } from 'kysely'
import { type Db, inTransaction } from '../../db/open.ts'
import { InvalidInput, type Problem } from '../../errors.ts'
import { type Actor, recordAudit } from '../accounts/audit.ts'

/** `usd`: dollars for one unit, as a decimal number. */
export type Rate = { currency: string; day: string; usd: string }
/** Dollars for one unit, in ten billionths. */
export type DollarRate = bigint

const DECIMALS = 10
const WHOLE = 10n ** BigInt(DECIMALS)
const USD: DollarRate = WHOLE
const DAY_MS = 86_400_000
/** Clicks and calls are never older. */
const KEPT_DAYS = 400
const MOST_AT_ONCE = 50_000

/** Rounded down. */
export const toDollars = (micros: number, rate: DollarRate): number => Number((BigInt(micros) * rate) / WHOLE)

export const dayOf = (date: Date): string => date.toISOString().slice(0, 10)

const rateOf = (usd: string): DollarRate => {
  const [whole = '', fraction = ''] = usd.split('.')
  return BigInt(whole + fraction.padEnd(DECIMALS, '0').slice(0, DECIMALS))
}

/** Of that day. Before the first one, the first one counts; null where there is none. */
export async function rateOn(db: Db, currency: string, day: string): Promise<DollarRate | null> {
  if (currency === 'USD') return USD
  const { rows } = await sql<{ usd: string }>`SELECT usd FROM (
      (SELECT usd, 1 AS place FROM currency_rates WHERE currency = ${currency} AND day <= ${day} ORDER BY day DESC LIMIT 1) UNION ALL
      (SELECT usd, 2 FROM currency_rates WHERE currency = ${currency} AND day > ${day} ORDER BY day LIMIT 1)
    ) found ORDER BY place LIMIT 1`.execute(db)
  return rows[0] === undefined ? null : rateOf(rows[0].usd)
}

/** Those of today. `mark`: another one where any of them is otherwise. */
export async function loadRates(db: Db, now: Date) {
  const rows = await latest(db, dayOf(now))
  const byCurrency = new Map(rows.map(({ currency, usd }) => [currency, rateOf(usd)])).set('USD', USD)
  const mark = createHash('sha256').update(rows.map(({ currency, usd }) => `${currency} ${usd}`).join('\n')).digest('hex').slice(0, 32) // prettier-ignore
  return { rateOf: (currency: string) => byCurrency.get(currency), mark }
}

const latest = (db: Db, day: string) =>
  db
    .selectFrom('currency_rates')
    .distinctOn('currency')
    .select(['currency', sql<string>`day::text`.as('day'), 'usd'])
    .where('day', '<=', sql<Date>`${day}::date`)
    .orderBy('currency')
    .orderBy('currency_rates.day', 'desc')
    .execute()

/** The latest of each currency, by its name. */
export const listRates = async (db: Db, now: Date): Promise<Rate[]> =>
  (await latest(db, dayOf(now))).map(({ currency, day, usd }) => ({ currency, day, usd: plainDecimal(usd) }))

const plainDecimal = (text: string) => text.replace(/(\.\d*?)0+$/, '$1').replace(/\.$/, '')

/** Replaces those of the same days. Returns how many are new or otherwise than before. */
export async function setRates(db: Db, by: Actor, rates: readonly Rate[], now: Date): Promise<number> {
  const problems = rates.length > MOST_AT_ONCE ? [{ field: 'rates', message: `Send at most ${MOST_AT_ONCE.toLocaleString('en')} rates at once.` }] : rates.flatMap((rate, i) => problemsOf(rate, `rates.${i}`, now)) // prettier-ignore
  if (problems.length > 0) throw new InvalidInput(problems)
  const first = dayOf(new Date(now.getTime() - KEPT_DAYS * DAY_MS))
  const wanted = [...new Map(rates.filter(({ day }) => day >= first).map((rate) => [`${rate.currency} ${rate.day}`, rate])).values()] // prettier-ignore
  if (rates[0] !== undefined && wanted.length === 0) throw new InvalidInput([{ field: 'rates.0.day', message: `${rates[0].day} is too long ago: rates from before ${first} are not kept.` }]) // prettier-ignore
  return inTransaction(db, async (trx) => {
    const { rows } = await sql<{ currency: string; day: string; usd: string }>`
      INSERT INTO currency_rates AS r (currency, day, usd)
      SELECT currency, day, usd FROM jsonb_to_recordset(${JSON.stringify(wanted)}) AS n (currency text, day date, usd numeric)
      ON CONFLICT (currency, day) DO UPDATE SET usd = excluded.usd, recorded_at = now() WHERE r.usd <> excluded.usd
      RETURNING currency, day::text AS day, usd`.execute(trx)
    if (rows.length === 0) return 0
    const days = rows.map(({ day }) => day).toSorted()
    const details = rows.length <= 50 ? { rates: rows.map((rate) => ({ ...rate, usd: plainDecimal(rate.usd) })) } : { rates: rows.length, from: days[0], to: days.at(-1) } // prettier-ignore
    await recordAudit(trx, by, { action: 'rates.set', subject: 'rates', details })
    return rows.length
  })
}

function problemsOf({ currency, day, usd }: Rate, field: string, now: Date): Problem[] {
  const found: Problem[] = []
  const report = (name: string, message: string) => found.push({ field: `${field}.${name}`, message })
  if (!/^[A-Z]{3}$/.test(currency)) report('currency', `"${currency}" is not a currency such as EUR.`)
  if (currency === 'USD') report('currency', 'US dollars need no rate: amounts are in US dollars.')
  if (!/^\d{4}-\d\d-\d\d$/.test(day) || Number.isNaN(Date.parse(day)) || dayOf(new Date(day)) !== day)
    report('day', `"${day}" is not a day such as ${dayOf(now)}.`) // prettier-ignore
  else if (day > dayOf(new Date(now.getTime() + DAY_MS))) report('day', `${day} is in the future.`)
  if (!/^\d{1,6}(\.\d{1,10})?$/.test(usd) || !(Number(usd) > 0)) report('usd', `"${usd}" is not a number of dollars above 0 with at most 10 decimals, such as 1.0842.`) // prettier-ignore
  return found
}

/** Those that no click and no call can need any more. The latest of each currency stays. */
export async function forgetOldRates(db: Db, now: Date): Promise<void> {
  const before = dayOf(new Date(now.getTime() - KEPT_DAYS * DAY_MS))
  await sql`DELETE FROM currency_rates r WHERE day < ${before}
    AND EXISTS (SELECT FROM currency_rates later WHERE later.currency = r.currency AND later.day > r.day AND later.day <= ${before})`.execute(
    db,
  )
}
