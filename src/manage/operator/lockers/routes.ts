// Links that visitors reported, and those that were taken down.
import { Type } from 'typebox'
import { takeDownLocker } from '../../../features/lockers/lockers.ts'
import { listReported } from '../../../features/lockers/reports.ts'
import { REPORT_REASONS } from '../../../features/lockers/schema.ts'
import { OFFSET_PAGE_QUERY } from '../../../http/paging.ts'
import { oneOf, shape } from '../../../http/shape.ts'
import type { ManageContext } from '../../context.ts'
import type { ManageRoutes } from '../../route.ts'
import { id, OK, Ok, orNull, text, Time } from '../../shapes.ts'

const TAG = 'Reported links'
const LockerIdParams = Type.Object({ locker_id: id })

const SEEN = {
  seen_report_id: Type.Optional(
    Type.Union([id, Type.Null()], {
      description:
        '`last_report_id` as you saw it: reports up to it are closed, later ones stay open. Without it, all stay open.',
    }),
  ),
}
const TakeDown = shape('LockerTakeDown', { reason: text(200, 'Reason, shown to the publisher.'), ...SEEN })
const Restore = shape('LockerRestore', SEEN)

const ReportedLink = shape('ReportedLink', {
  locker_id: Type.Integer(),
  app_id: Type.Integer(),
  publisher_id: Type.Integer(),
  publisher: Type.String(),
  slug: Type.String(),
  name: Type.String(),
  target_url: Type.String({ description: 'Where it leads now.' }),
  taken_down_reason: orNull(Type.String()),
  reports: Type.Integer({ description: 'Open reports.' }),
  last_reported_at: orNull(Time),
  last_report_id: orNull(Type.Integer()),
  reported_targets: Type.Array(Type.String(), {
    description: 'Where the link led when it was reported, the latest first.',
  }),
  examples: Type.Array(
    Type.Object({ reason: oneOf(REPORT_REASONS), details: Type.String(), target_url: orNull(Type.String()) }),
  ),
})

export function reportedLinkRoutes(routes: ManageRoutes, { db }: ManageContext): void {
  routes.get('/reported-links', {
    id: 'listReportedLinks',
    summary: 'List links with reports of abuse',
    about: 'Those with most reports first, then those that are taken down.',
    tag: TAG,
    access: 'operator',
    query: Type.Object(OFFSET_PAGE_QUERY),
    reply: shape('ReportedLinkList', { links: Type.Array(ReportedLink), total: Type.Integer({ minimum: 0 }) }),
    run: ({ query: { limit = 50, offset = 0 } }) => listReported(db, { limit, offset }),
  })

  routes.post('/lockers/:locker_id/take-down', {
    id: 'takeDownLocker',
    summary: 'Take a locker down',
    about: 'Visitors can no longer open it, and the publisher sees the reason. Closes the reports that you have seen.',
    tag: TAG,
    access: 'operator',
    params: LockerIdParams,
    body: TakeDown,
    reply: Ok,
    async run({ params, by, body }) {
      const { reason, seen_report_id: seenReportId = null } = body
      await takeDownLocker(db, by, params.locker_id, { reason, seenReportId })
      return OK
    },
  })

  routes.post('/lockers/:locker_id/restore', {
    id: 'restoreLocker',
    summary: 'Restore a locker that was taken down',
    about: 'Closes the reports that you have seen, also about a locker that is fine.',
    tag: TAG,
    access: 'operator',
    params: LockerIdParams,
    body: Restore,
    reply: Ok,
    async run({ params, by, body: { seen_report_id: seenReportId = null } }) {
      await takeDownLocker(db, by, params.locker_id, { reason: null, seenReportId })
      return OK
    },
  })
}
