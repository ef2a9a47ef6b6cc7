import { Command } from 'commander'
import { listNotices, mailedAt, type NoticeFilter, whyNotMailed } from '../features/postbacks/notices.ts'
import { withDatabase } from './context.ts'
import { type OutputOptions, readId, readLimit, readOn, show, table } from './output.ts'

type ListOptions = OutputOptions & { app?: string; before?: string; limit: string }

export const noticeCommand = () =>
  new Command('notice').description('notices: what publishers must know, such as that postbacks are paused').addCommand(
    new Command('list')
      .description('list notices, newest first, and why one was not mailed')
      .option('--app <id>', 'only those to this app')
      .option('--before <id>', 'only those before this notice')
      .option('--limit <n>', 'at most this many', '50')
      .action(async (options: ListOptions) => {
        const limit = readLimit(options.limit)
        const filter: NoticeFilter = {}
        if (options.app !== undefined) filter.appId = readId(options.app)
        if (options.before !== undefined) filter.before = readId(options.before)
        const notices = await withDatabase(async ({ config, database }) => {
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
          return table(notices, 'There are no such notices.') + more
        })
      }),
  )
