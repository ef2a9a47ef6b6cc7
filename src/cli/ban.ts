import { Command } from 'commander'
import { OperatorError } from '../errors.ts'
import { type BanFilter, banUser, liftBan, listBans } from '../features/apps/bans.ts'
import { withChange, withDatabase } from './context.ts'
import { type OutputOptions, readId, readLimit, readOn, show, table } from './output.ts'

type ListOptions = OutputOptions & { app?: string; user?: string; before?: string; limit: string }

export const banCommand = () =>
  new Command('ban')
    .description('bans: banned users see no offers, and their conversions are rejected')
    .addCommand(
      new Command('add')
        .description('ban a user in one app or in all apps')
        .argument('<user>', "the publisher's userId")
        .requiredOption('--reason <text>', 'why')
        .option('--app <id>', 'only in this app')
        .action(async (userId: string, options: OutputOptions & { reason: string; app?: string }) => {
          const appId = options.app === undefined ? null : readId(options.app)
          const { reason } = options
          const isNew = await withChange(({ database }) => banUser(database.db, { appId, userId, reason }))
          const where = appId === null ? 'in every app' : `in app ${appId}`
          show(options, { app_id: appId, user_id: userId, is_new: isNew }, () =>
            isNew ? `User "${userId}" is banned ${where}.` : `User "${userId}" is already banned ${where}.`,
          )
        }),
    )
    .addCommand(
      new Command('lift')
        .description('lift a ban')
        .argument('<id>', 'ban_id')
        .action(async (id: string, options: OutputOptions) => {
          const isLifted = await withChange(({ database }) => liftBan(database.db, readId(id)))
          if (!isLifted) throw new OperatorError(`There is no ban ${id}. List bans with: offerdeck ban list`)
          show(options, { ban_id: readId(id), lifted: true }, () => `Ban ${id} lifted.`)
        }),
    )
    .addCommand(
      new Command('list')
        .description('list bans, newest first')
        .option('--app <id>', 'only bans in this app')
        .option('--user <id>', 'only bans of this user')
        .option('--before <id>', 'only bans before this one')
        .option('--limit <n>', 'maximum number of results', '50')
        .action(async (options: ListOptions) => {
          const limit = readLimit(options.limit)
          const found = await withDatabase(({ database }) => listBans(database.db, readFilter(options), limit))
          show(options, found, () => {
            const more = readOn(found, limit, (last) => `add --before ${last.ban_id}`)
            return table(found, 'No bans found.') + more
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
