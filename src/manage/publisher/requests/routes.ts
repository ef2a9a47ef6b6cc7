// What an app's server asked of the API lately, and what it was answered.
import { listRequests, type RequestFilter } from '../../../features/apps/request-log.ts'
import { cutPage } from '../../../http/paging.ts'
import { uuid7Time } from '../../../lib/uuid7.ts'
import type { ManageContext } from '../../context.ts'
import type { ManageRoutes } from '../../route.ts'
import { AppParams } from '../../shapes.ts'
import { RequestList, RequestQuery } from './schema.ts'

export function requestRoutes(routes: ManageRoutes, { db }: ManageContext): void {
  routes.get('/apps/:app_id/requests', {
    id: 'listApiRequests',
    summary: 'List the API requests of an app',
    about:
      'Newest first, for three days. An app with many requests has a sample of them here, successes and errors apart.',
    tag: 'Apps',
    access: 'publisher',
    params: AppParams,
    query: RequestQuery,
    reply: RequestList,
    async run({ app: { appId }, query: { mode, outcome, request_id, cursor, limit = 20 } }) {
      const filter: RequestFilter = { appId, isTest: mode === 'test' }
      if (outcome !== undefined) filter.outcome = outcome
      if (request_id !== undefined) filter.requestId = request_id
      if (cursor !== undefined) filter.before = cursor
      const found = await listRequests(db, filter, limit + 1)
      const { page, nextCursor } = cutPage(found, limit, (row) => row.logged_id)
      return { requests: page.map(present), next_cursor: nextCursor }
    },
  })
}

function present(row: Awaited<ReturnType<typeof listRequests>>[number]) {
  const { request_id, method, path, parameters, body, status, is_verified, skipped } = row
  return {
    request_id,
    received_at: new Date(uuid7Time(row.logged_id)),
    method,
    path,
    parameters,
    body,
    status,
    error:
      row.error_code === null
        ? null
        : { code: row.error_code, message: row.error_message ?? '', details: row.error_details },
    duration_ms: row.duration_us / 1_000,
    is_verified,
    skipped,
  }
}
