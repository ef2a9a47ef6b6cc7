// What people did: every change, newest first.
import { type AuditFilter, searchAuditEntries } from '../../../features/accounts/audit.ts'
import { readAuditNames } from '../../../features/reports/entity-names.ts'
import { beforeId } from '../../../http/paging.ts'
import type { ManageContext } from '../../context.ts'
import type { ManageRoutes } from '../../route.ts'
import { AuditList, AuditQuery } from './schema.ts'

export function auditRoutes(routes: ManageRoutes, { db }: ManageContext): void {
  routes.get('/audit', {
    id: 'listAudit',
    summary: 'List the audit log',
    about: 'Every change that a person made, newest first.',
    tag: 'Audit log',
    access: 'operator',
    query: AuditQuery,
    reply: AuditList,
    async run({ query: { who, action, subject, publisher_id, limit = 20, cursor } }) {
      const filter: AuditFilter = beforeId(cursor)
      if (who !== undefined) filter.who = who.trim()
      if (action !== undefined) filter.action = action
      if (subject !== undefined) filter.subject = subject
      if (publisher_id !== undefined) filter.publisherId = publisher_id
      const { rows: page, next } = await searchAuditEntries(db, filter, limit)
      const names = await readAuditNames(db, page)
      return {
        entries: page.map(({ publisher_id: id, details, ...entry }, i) => ({
          ...entry,
          details: details as Record<string, unknown>,
          publisher: id === null ? null : { publisher_id: id, name: names[i]?.publisher?.name ?? `Publisher ${id}` },
          target: names[i]?.target ?? null,
          mentions: names[i]?.mentions ?? [],
        })),
        next_cursor: next,
      }
    },
  })
}
