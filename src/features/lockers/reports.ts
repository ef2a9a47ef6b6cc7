// Reports of abuse: what visitors say of links, for the operator.
import { sql } from 'kysely'
import type { Db } from '../../db/open.ts'
import type { KnownLocker } from './lockers.ts'
import type { REPORT_REASONS, ReportBody } from './schema.ts'

/** Beyond it, only the first report of each further target: more tell the operator nothing new. */
const MAX_OPEN = 100
const MAX_TARGETS = 100

export async function reportLocker(
  db: Db,
  { lockerId, settings }: Pick<KnownLocker, 'lockerId' | 'settings'>,
  { reason, details = '' }: ReportBody,
): Promise<void> {
  const target = settings.link?.target_url ?? null
  await sql`INSERT INTO locker_reports (locker_id, reason, details, target_url) SELECT ${lockerId}, ${reason}, ${details}, ${target}
    FROM (SELECT count(*) AS open, count(*) FILTER (WHERE target_url IS NOT DISTINCT FROM ${target}) AS of_target
      FROM locker_reports WHERE locker_id = ${lockerId} AND closed_at IS NULL) AS reports
    WHERE open < ${MAX_OPEN} OR (of_target = 0 AND open < ${MAX_OPEN + MAX_TARGETS})`.execute(db)
}

export type ReportedLocker = {
  locker_id: number
  app_id: number
  publisher_id: number
  publisher: string
  slug: string
  name: string
  target_url: string
  taken_down_reason: string | null
  reports: number
  last_reported_at: Date | null
  last_report_id: number | null
  reported_targets: string[]
  examples: { reason: (typeof REPORT_REASONS)[number]; details: string; target_url: string | null }[]
}

/** Links with open reports, those with most of them first, then those that are taken down; and how many there are. */
export async function listReported(
  db: Db,
  { limit, offset = 0 }: { limit: number; offset?: number },
): Promise<{ links: ReportedLocker[]; total: number }> {
  const { rows } = await sql<ReportedLocker & { total?: number }>`
    SELECT l.locker_id, l.app_id, p.publisher_id, p.name AS publisher, l.slug, l.settings ->> 'name' AS name, l.settings -> 'link' ->> 'target_url' AS target_url,
      l.taken_down_reason, coalesce(r.reports, 0)::integer AS reports, r.last_reported_at, r.last_report_id, coalesce(t.targets, '{}') AS reported_targets, coalesce(r.examples, '[]') AS examples,
      count(*) OVER () AS total
    FROM (
      SELECT locker_id FROM locker_reports WHERE closed_at IS NULL
      UNION SELECT locker_id FROM lockers WHERE taken_down_at IS NOT NULL
    ) AS listed JOIN lockers l USING (locker_id) JOIN apps USING (app_id) JOIN publishers p USING (publisher_id) LEFT JOIN LATERAL (
      SELECT count(*) AS reports, max(created_at) AS last_reported_at, max(report_id) AS last_report_id,
        (json_agg(json_build_object('reason', reason, 'details', details, 'target_url', target_url) ORDER BY report_id DESC)) AS examples
      FROM locker_reports WHERE locker_id = l.locker_id AND closed_at IS NULL
    ) r ON true LEFT JOIN LATERAL (
      SELECT array_agg(target_url ORDER BY last DESC) AS targets FROM (
        SELECT target_url, max(report_id) AS last FROM locker_reports
        WHERE locker_id = l.locker_id AND closed_at IS NULL AND target_url IS NOT NULL GROUP BY target_url) AS reported
    ) t ON true
    WHERE l.kind = 'link'
    ORDER BY r.reports DESC, l.locker_id DESC LIMIT ${limit} OFFSET ${offset}`.execute(db)
  const links = rows.map(({ total: _total, ...row }) => ({ ...row, examples: row.examples.slice(0, 5) }))
  return { links, total: rows[0]?.total ?? 0 }
}
