import { Command } from 'commander'
import { listNotices, mailedAt, type NoticeFilter, whyNotMailed } from '../features/postbacks/notices.ts'
import { withDatabase } from './context.ts'
import { findAppId } from './find.ts'
import { type OutputOptions, readId, readLimit, readOn, show, table } from './output.ts'

type ListOptions = OutputOptions & { app?: string; before?: string; limit: string }

export const noticeCommand = () =>
  new Command('notice').addCommand(
    new Command('list')
      .description('list notices, newest first, with the reason for any that was not emailed')
      .option('--app <app>', 'only notices to this app')
      .option('--before <id>', 'only notices before this one')
      .option('--limit <n>', 'maximum number of results', '50')
      .action(async (options: ListOptions) => {
        const limit = readLimit(options.limit)
        const filter: NoticeFilter = {}
        if (options.before !== undefined) filter.before = readId(options.before)
        const notices = await withDatabase(async ({ config, database }) => {
          if (options.app !== undefined) filter.appId = await findAppId(database.db, options.app)
          const found = await listNotices(database.db, filter, limit)
          return found.map((notice) => ({
            notice_id: notice.notice_id,
            app_id: notice.app_id,
            app: notice.app,
            created_at: notice.created_at,
            kind: notice.kind,
            mailed_at: mailedAt(notice),
            not_mailed: whyNotMailed(notice, config.smtpUrl !== null),
            message: notice.message,
          }))
        })
        show(options, notices, () => {
          const more = readOn(notices, limit, (last) => `add --before ${last.notice_id}`)
          const rows = notices.map(({ notice_id, created_at, app, message, not_mailed, ...rest }) => ({
            notice_id, created_at, app, message, not_mailed, ...rest,
          })) // prettier-ignore
          return table(rows, 'No notices yet.') + more
        })
      }),
  )
