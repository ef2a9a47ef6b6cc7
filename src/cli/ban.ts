import { Command } from 'commander'
import type { Db } from '../db/open.ts'
import { OperatorError } from '../errors.ts'
import { type BanFilter, banUser, liftBan, listBans } from '../features/apps/bans.ts'
import { confirm, type ConfirmOptions, yesOption } from './confirm.ts'
import { withChange, withDatabase } from './context.ts'
import { findAppId } from './find.ts'
import { type OutputOptions, readId, readLimit, readOn, show, table } from './output.ts'
import { hint } from './usage.ts'

type ListOptions = OutputOptions & { app?: string; user?: string; before?: string; limit: string }

export const banCommand = () =>
  new Command('ban')
    .addCommand(
      new Command('add')
        .description('ban a user in one app or in all apps')
        .argument('<user>', "the publisher's userId")
        .requiredOption('--reason <text>', 'why')
        .option('--app <app>', 'only in this app')
        .addOption(yesOption())
        .action(async (userId: string, options: OutputOptions & ConfirmOptions & { reason: string; app?: string }) => {
          const { reason, app } = options
          if (app === undefined) await confirm(`This bans user "${userId}" in all apps of all publishers.`, options)
          const { appId, isNew } = await withChange(async ({ database: { db }, by }) => {
            const given = app === undefined ? null : await findAppId(db, app)
            return { appId: given, isNew: await banUser(db, by, { appId: given, userId, reason }) }
          })
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
        .addOption(yesOption())
        .action(async (id: string, options: OutputOptions & ConfirmOptions) => {
          await confirm(`The user of ban ${readId(id)} will see offers again and can be rewarded for them.`, options)
          const isLifted = await withChange(({ database, by }) => liftBan(database.db, by, readId(id)))
          if (!isLifted) throw new OperatorError(`There is no ban ${id}. List bans with: ${hint('ban list')}`)
          show(options, { ban_id: readId(id), lifted: true }, () => `Ban ${id} lifted.`)
        }),
    )
    .addCommand(
      new Command('list')
        .description('list bans, newest first')
        .option('--app <app>', 'only bans in this app')
        .option('--user <id>', 'only bans of this user')
        .option('--before <id>', 'only bans before this one')
        .option('--limit <n>', 'maximum number of results', '50')
        .action(async (options: ListOptions) => {
          const limit = readLimit(options.limit)
          const found = await withDatabase(async ({ database: { db } }) =>
            listBans(db, await readFilter(db, options), limit),
          )
          show(options, found, () => {
            const more = readOn(found, limit, (last) => `add --before ${last.ban_id}`)
            return table(found, 'No bans found.') + more
          })
        }),
    )

async function readFilter(db: Db, { app, user, before }: ListOptions): Promise<BanFilter> {
  return {
    ...(app === undefined ? {} : { appId: await findAppId(db, app) }),
    ...(user === undefined ? {} : { userId: user }),
    ...(before === undefined ? {} : { before: readId(before) }),
  }
}
