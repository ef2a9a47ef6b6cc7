// Proves that the ledger is right from its entries and the conversions alone: whatever the program did, and whatever
// was changed by hand.
import type pg from 'pg'
import type { Database } from '../../db/open.ts'
import { NO_TIME_LIMIT } from '../../db/role-defaults.ts'

const MAX_MS = 3_600_000 // reading every entry ever written takes a while
const MAX_EXAMPLES = 20

/** `count` is the number of problems, `examples` the first of them, each a sentence. Amounts are in micro-USD. */
export type LedgerProblem = { kind: Kind; count: number; examples: string[] }
type Kind = keyof typeof CHECKS

const SUMMED_UP = 'entry_id <= (SELECT entry_id FROM ledger_rollup)'

// Each selects sentences describing what is wrong. Where two sides must agree, they are combined with UNION ALL and
// summed: one pass over both finds what is missing on either.
const CHECKS = {
  unbalanced_posting: `
    SELECT format('Posting %s sums to %s instead of 0.', posting_id, sum(amount_micros)) AS example
    FROM ledger_entries GROUP BY posting_id HAVING sum(amount_micros) <> 0 ORDER BY posting_id`,

  unbalanced_ledger: `
    SELECT format('All entries together sum to %s instead of 0.', sum(amount_micros)) AS example
    FROM ledger_entries HAVING sum(amount_micros) <> 0`,

  wrong_day: `
    SELECT format('The sum of %s for %s of party %s is kept as %s, but its entries sum to %s.',
      day, account, party_id, sum(kept), sum(entered)) AS example
    FROM (
      SELECT account, party_id, day, amount_micros AS kept, 0 AS entered FROM ledger_days
      UNION ALL
      SELECT account, party_id, (created_at AT TIME ZONE 'UTC')::date, 0, amount_micros FROM ledger_entries WHERE ${SUMMED_UP}
    ) AS side
    GROUP BY account, party_id, day HAVING sum(kept) <> sum(entered) ORDER BY day, account, party_id`,

  wrong_balance: `
    SELECT format('The sum of %s of party %s is kept as %s, but its entries sum to %s.', account, party_id, sum(kept), sum(entered)) AS example
    FROM (
      SELECT account, party_id, amount_micros AS kept, 0 AS entered FROM ledger_balances
      UNION ALL
      SELECT account, party_id, 0, amount_micros FROM ledger_entries WHERE ${SUMMED_UP}
    ) AS side
    GROUP BY account, party_id HAVING sum(kept) <> sum(entered) ORDER BY account, party_id`,

  wrong_user_balance: `
    SELECT format('The balance of user %s of app %s%s is kept as %s steps, but its entries sum to %s.',
      user_id, app_id, CASE WHEN is_test THEN ' (test)' ELSE '' END, sum(kept), sum(entered)) AS example
    FROM (
      SELECT app_id, user_id, is_test, amount_steps AS kept, 0 AS entered FROM user_balances
      UNION ALL
      SELECT app_id, user_id, is_test, 0, amount_steps FROM user_entries WHERE entry_id <= (SELECT entry_id FROM user_balances_rollup)
    ) AS side
    GROUP BY app_id, user_id, is_test HAVING sum(kept) <> sum(entered) ORDER BY app_id, user_id, is_test`,

  wrong_network_day: `
    SELECT format('What conversions moved on %s is kept as a payout of %s and a margin of %s, but their entries sum to %s and %s.',
      day, sum(kept_payout), sum(kept_margin), sum(payout), sum(margin)) AS example
    FROM (
      SELECT day, payout_micros AS kept_payout, margin_micros AS kept_margin, 0 AS payout, 0 AS margin FROM network_days
      UNION ALL
      SELECT (created_at AT TIME ZONE 'UTC')::date, 0, 0, CASE WHEN account LIKE 'publisher_%' THEN -amount_micros ELSE 0 END,
        CASE account WHEN 'network_margin' THEN -amount_micros ELSE 0 END FROM ledger_entries WHERE kind = 'conversion' AND ${SUMMED_UP}
    ) AS side
    GROUP BY day HAVING sum(kept_payout) <> sum(payout) OR sum(kept_margin) <> sum(margin) ORDER BY day`,

  wrong_conversion: `
    SELECT format('Conversion %s: %s.', conversion_id,
      string_agg(format('%s of party %s is %s instead of %s', account, party_id, entered, due), ', ' ORDER BY account, party_id)
    ) AS example
    FROM (
      SELECT conversion_id, account, party_id, sum(entered) AS entered, sum(due) AS due
      FROM (
        SELECT conversion_id, account, party_id, amount_micros AS entered, 0 AS due FROM ledger_entries
        WHERE conversion_id IS NOT NULL
        UNION ALL
        SELECT c.conversion_id, line.account, line.party_id, 0, line.amount_micros
        FROM conversions c CROSS JOIN LATERAL (VALUES
          (CASE WHEN c.is_unconfirmed THEN 'advertiser_unconfirmed' ELSE 'advertiser_receivable' END, c.advertiser_id, c.revenue_micros),
          (CASE c.status WHEN 'pending' THEN 'publisher_pending' ELSE 'publisher_payable' END, c.publisher_id, -c.payout_micros),
          ('network_margin', 0, c.payout_micros - c.revenue_micros)
        ) AS line (account, party_id, amount_micros)
        WHERE NOT c.is_test AND c.status IN ('pending', 'approved')
      ) AS side
      GROUP BY conversion_id, account, party_id HAVING sum(entered) <> sum(due)
    ) AS wrong
    GROUP BY conversion_id ORDER BY conversion_id`,

  test_conversion: `
    SELECT format('Conversion %s is a test, but has %s entries.', conversion_id, count(*)) AS example
    FROM ledger_entries JOIN conversions USING (conversion_id)
    WHERE is_test GROUP BY conversion_id ORDER BY conversion_id`,

  no_conversion: `
    SELECT format('Entry %s is of kind %s, but its conversion is %s.', entry_id, kind,
      CASE WHEN e.conversion_id IS NULL THEN 'not named' WHEN c.conversion_id IS NULL THEN 'not there' ELSE 'named' END) AS example
    FROM ledger_entries e LEFT JOIN conversions c ON c.conversion_id = e.conversion_id
    WHERE (kind = 'conversion') <> (e.conversion_id IS NOT NULL)
      OR (e.conversion_id IS NOT NULL AND c.conversion_id IS NULL)
    ORDER BY entry_id`,

  wrong_payment: `
    SELECT format('Entry %s is no line of a %s: %s of party %s, %s.', entry_id, kind, account, party_id, amount_micros) AS example
    FROM (SELECT *, CASE WHEN voids IS NULL THEN amount_micros ELSE -amount_micros END AS as_recorded FROM ledger_entries) AS entry
    WHERE kind <> 'conversion' AND NOT CASE kind || ' ' || account
      WHEN 'payout publisher_payable' THEN as_recorded > 0 AND EXISTS (SELECT FROM publishers WHERE publisher_id = party_id)
      WHEN 'payout cash' THEN as_recorded < 0 AND party_id = 0
      WHEN 'receipt cash' THEN as_recorded > 0 AND party_id = 0
      WHEN 'receipt advertiser_receivable' THEN as_recorded < 0 AND EXISTS (SELECT FROM advertisers WHERE advertiser_id = party_id)
      WHEN 'adjustment publisher_payable' THEN EXISTS (SELECT FROM publishers WHERE publisher_id = party_id)
      WHEN 'adjustment advertiser_receivable' THEN EXISTS (SELECT FROM advertisers WHERE advertiser_id = party_id)
      WHEN 'adjustment network_margin' THEN party_id = 0
      ELSE false END
    ORDER BY entry_id`,

  wrong_void: `
    SELECT format('Posting %s is voided, but %s of party %s is left with %s.', posting, account, party_id, sum(amount_micros)) AS example
    FROM (
      SELECT voids AS posting, account, party_id, amount_micros, 1 AS times FROM ledger_entries WHERE voids IS NOT NULL
      UNION ALL
      SELECT posting_id, account, party_id, amount_micros, 0 FROM ledger_entries
      WHERE kind <> 'conversion' AND posting_id IN (SELECT voids FROM ledger_entries WHERE voids IS NOT NULL)
    ) AS side
    GROUP BY posting, account, party_id HAVING sum(amount_micros) <> 0 OR sum(times) <> 1 ORDER BY posting, account`,

  wrong_run: `
    SELECT format('Payment run %s has publisher %s as %s with %s, but its payout is %s.', run_id, l.publisher_id, l.status, l.amount_micros,
      coalesce(e.amount_micros::text, 'not there')) AS example
    FROM payment_run_lines l LEFT JOIN ledger_entries e ON e.posting_id = l.posting_id AND e.kind = 'payout'
      AND e.account = 'publisher_payable' AND e.party_id = l.publisher_id AND e.voids IS NULL
    WHERE l.status = 'paid' AND e.amount_micros IS DISTINCT FROM l.amount_micros
    ORDER BY run_id, l.publisher_id`,
} as const

/** The problems of the ledger. Reads one snapshot, without blocking anything. */
export async function checkLedger(database: Pick<Database, 'pool'>): Promise<LedgerProblem[]> {
  return inOneMoment(database, async (run) => {
    const problems: LedgerProblem[] = []
    for (const [kind, check] of Object.entries(CHECKS)) {
      const found = await run<{ example: string; count: number }>(
        `SELECT example, count(*) OVER () AS count FROM (${check}) AS found LIMIT ${MAX_EXAMPLES}`,
      )
      const [first] = found
      if (first) problems.push({ kind: kind as Kind, count: first.count, examples: found.map((row) => row.example) })
    }
    return problems
  })
}

/** How much there is to check. */
export async function countLedger(
  database: Pick<Database, 'pool'>,
): Promise<{ postings: number; conversions: number }> {
  return inOneMoment(database, async (run) => {
    const [postings] = await run<{ count: number }>('SELECT count(DISTINCT posting_id) AS count FROM ledger_entries')
    const [conversions] = await run<{ count: number }>('SELECT count(*) AS count FROM conversions WHERE NOT is_test')
    return { postings: postings?.count ?? 0, conversions: conversions?.count ?? 0 }
  })
}

type Run = <T extends pg.QueryResultRow>(text: string) => Promise<T[]>

/** A read-only transaction in which all queries share a snapshot, with a longer time limit. */
async function inOneMoment<T>({ pool }: Pick<Database, 'pool'>, work: (run: Run) => Promise<T>): Promise<T> {
  const client = await pool.connect()
  let isDone = false
  const run: Run = async <R extends pg.QueryResultRow>(text: string) =>
    (await client.query<R>({ text, query_timeout: MAX_MS } as pg.QueryConfig)).rows
  try {
    await run('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY')
    await run(NO_TIME_LIMIT)
    const result = await work(run)
    await run('COMMIT')
    isDone = true
    return result
  } finally {
    client.release(!isDone) // closing the connection ends the transaction, whatever state it is in
  }
}
