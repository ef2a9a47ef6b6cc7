// What people did: every change, newest first.
import { badCursor } from '../../errors.ts'
import { type DeedFilter, listDeeds } from '../../features/accounts/audit.ts'
import { cutPage } from '../../http/paging.ts'
import type { Db } from '../../db/open.ts'
import type { ManageContext } from '../context.ts'
import type { ManageRoutes } from '../route.ts'
import { AuditList, AuditQuery } from './schema.ts'

export function auditRoutes(routes: ManageRoutes, { db }: ManageContext): void {
  routes.get('/audit', {
    id: 'listAudit',
    summary: 'Every change that a person made, newest first',
    tag: 'Audit log',
    access: 'operator',
    query: AuditQuery,
    reply: AuditList,
    async run({ query: { who, action, subject, publisher_id, limit = 20, cursor } }) {
      const filter: DeedFilter = {}
      if (who !== undefined) filter.who = who.trim()
      if (action !== undefined) filter.action = action
      if (subject !== undefined) filter.subject = subject
      if (publisher_id !== undefined) filter.publisherId = publisher_id
      if (cursor !== undefined) filter.before = readCursor(cursor)
      const found = await listDeeds(db, filter, limit + 1)
      const { page, nextCursor } = cutPage(found, limit, ({ audit_id }) => String(audit_id))
      const names = await readNames(db, [...new Set(page.flatMap((deed) => deed.publisher_id ?? []))])
      return {
        deeds: page.map(({ publisher_id: id, details, ...deed }) => ({
          ...deed,
          details: details as Record<string, unknown>,
          publisher: id === null ? null : { publisher_id: id, name: names.get(id) ?? `Publisher ${id}` },
        })),
        next_cursor: nextCursor,
      }
    },
  })
}

function readCursor(cursor: string): number {
  if (!/^\d{1,15}$/.test(cursor)) throw badCursor('cursor')
  return Number(cursor)
}

async function readNames(db: Db, publisherIds: number[]): Promise<Map<number, string>> {
  if (publisherIds.length === 0) return new Map()
  const rows = await db
    .selectFrom('publishers')
    .select(['publisher_id', 'name'])
    .where('publisher_id', 'in', publisherIds)
    .execute()
  return new Map(rows.map(({ publisher_id, name }) => [publisher_id, name]))
}
