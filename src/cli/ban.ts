import { Command } from 'commander'
import { OperatorError } from '../errors.ts'
import { type BanFilter, banUser, liftBan, listBans } from '../features/apps/bans.ts'
import { withChange, withDatabase } from './context.ts'
import { type OutputOptions, readId, readLimit, readOn, show, table } from './output.ts'

type ListOptions = OutputOptions & { app?: string; user?: string; before?: string; limit: string }

export const banCommand = () =>
  new Command('ban')
    .description('bans: users who are shown no offers, and of whom nothing is paid')
    .addCommand(
      new Command('add')
        .description('ban a user, in one app or in all')
        .argument('<user>', "the publisher's userId")
        .requiredOption('--reason <text>', 'why')
        .option('--app <id>', 'only in this app')
        .action(async (userId: string, options: OutputOptions & { reason: string; app?: string }) => {
          const appId = options.app === undefined ? null : readId(options.app)
          const { reason } = options
          const isNew = await withChange(({ database }) => banUser(database.db, { appId, userId, reason }))
          const where = appId === null ? 'in every app' : `in app ${appId}`
          show(options, { app_id: appId, user_id: userId, is_new: isNew }, () =>
            isNew ? `User "${userId}" is banned ${where}.` : `User "${userId}" was banned ${where} before.`,
          )
        }),
    )
    .addCommand(
      new Command('lift')
        .description('lift a ban')
        .argument('<id>', 'ban_id')
        .action(async (id: string, options: OutputOptions) => {
          const isLifted = await withChange(({ database }) => liftBan(database.db, readId(id)))
          if (!isLifted) throw new OperatorError(`There is no ban ${id}. "offerdeck ban list" shows them.`)
          show(options, { ban_id: readId(id), lifted: true }, () => `Ban ${id} is lifted.`)
        }),
    )
    .addCommand(
      new Command('list')
        .description('list bans, newest first')
        .option('--app <id>', 'only those of this app')
        .option('--user <id>', 'only those of this user')
        .option('--before <id>', 'only those made before this ban')
        .option('--limit <n>', 'at most this many', '50')
        .action(async (options: ListOptions) => {
          const limit = readLimit(options.limit)
          const found = await withDatabase(({ database }) => listBans(database.db, readFilter(options), limit))
          show(options, found, () => {
            const more = readOn(found, limit, (last) => `add --before ${last.ban_id}`)
            return table(found, 'Nobody is banned.') + more
          })
        }),
    )

function readFilter({ app, user, before }: ListOptions): BanFilter {
  return {
    ...(app === undefined ? {} : { appId: readId(app) }),
    ...(user === undefined ? {} : { userId: user }),
    ...(before === undefined ? {} : { before: readId(before) }),
  }
}
