import { Command, Option } from 'commander'
import { inTransaction } from '../db/open.ts'
import { AppError } from '../errors.ts'
import { changeLocker, createLocker, lockLocker, searchLockers, takeDownLocker } from '../features/lockers/lockers.ts'
import { listReported } from '../features/lockers/reports.ts'
import { confirm, type ConfirmOptions, yesOption } from './confirm.ts'
import { type Context, withChange, withDatabase } from './context.ts'
import { findAppId, findLocker } from './find.ts'
import { inOptions, lookFields, readSettings, type SettingOptions, withSettings } from './locker-options.ts'
import { fields, type OutputOptions, readId, readLimit, readOn, show, table } from './output.ts'
import { hint } from './usage.ts'

type ListOptions = OutputOptions & { app?: string; reported?: boolean; before?: string; limit: string }
type ShownLocker = Awaited<ReturnType<typeof searchLockers>>[number]

export const lockerCommand = () =>
  new Command('locker')
    .addCommand(
      new Command('list')
        .description('list lockers, newest first')
        .option('--app <app>', 'only lockers of this app')
        .option('--reported', 'only links that visitors reported or that were taken down, most reports first')
        .option('--before <id>', 'only lockers before this one')
        .option('--limit <n>', 'maximum number of results', '50')
        .action(list),
    )
    .addCommand(
      new Command('show')
        .description('show the settings and figures of a locker')
        .argument('<locker>', 'ID, name or slug')
        .action(async (named: string, options: OutputOptions) => {
          const locker = await withDatabase(async (context) =>
            readLocker(context, (await findLocker(context.database.db, named)).locker_id),
          )
          show(options, locker, describe)
        }),
    )
    .addCommand(
      withSettings(
        new Command('create')
          .description('create a content locker; with --target-url, a link locker')
          .requiredOption('--app <app>', 'ID or name of the app')
          .requiredOption('--name <name>', 'name of the locker, not shown to visitors')
          .option('--slug <text>', 'slug: the last part of the link (default: random)'),
      ).action(create),
    )
    .addCommand(
      withSettings(
        new Command('set')
          .description('change the settings of a locker; options you leave out stay unchanged')
          .argument('<locker>', 'ID, name or slug')
          .option('--name <name>', 'name of the locker, not shown to visitors'),
      ).action(set),
    )
    .addCommand(
      new Command('take-down')
        .description('take a locker down: visitors can no longer open it')
        .argument('<locker>', 'ID, name or slug')
        .requiredOption('--reason <text>', 'reason, shown to the publisher')
        .addOption(seenOption())
        .addOption(yesOption())
        .action(takeDown),
    )
    .addCommand(
      new Command('restore')
        .description('restore a locker that was taken down, or close the reports about one that is fine')
        .argument('<locker>', 'ID, name or slug')
        .addOption(seenOption())
        .action(async (named: string, options: OutputOptions & SeenOptions) => {
          const seenReportId = readSeen(options)
          const { locker_id, name } = await withChange(async ({ database: { db }, by }) => {
            const found = await findLocker(db, named)
            await takeDownLocker(db, by, found.locker_id, { reason: null, seenReportId })
            return found
          })
          show(options, { locker_id, taken_down_reason: null }, () => `Locker ${locker_id}, "${name}", is restored.`)
        }),
    )

async function list(options: ListOptions): Promise<void> {
  const limit = readLimit(options.limit)
  const before = options.before === undefined ? {} : { before: readId(options.before) }
  if (options.reported === true) {
    const { links, total } = await withDatabase(({ database }) => listReported(database.db, { limit }))
    const rows = links.map(({ examples, reported_targets, ...one }) => ({
      ...one,
      latest: examples[0]?.reason ?? null,
      reported_targets: reported_targets.join(' '),
    }))
    const more = total > limit ? `\n\n${limit} of ${total}: raise --limit.` : ''
    return show(options, links, () => table(rows, 'No link has open reports, and none is taken down.') + more)
  }
  const lockers = await withDatabase(async ({ config, database: { db } }) => {
    const of = options.app === undefined ? {} : { appId: await findAppId(db, options.app) }
    return searchLockers(db, config, { ...of, ...before }, limit)
  })
  show(options, lockers, () => {
    const rows = lockers.map(({ locker_id, app_id, kind, url, settings, views, unlocks, opened, ...rest }) => ({
      locker_id, name: settings.name, kind, status: statusOf({ settings, ...rest }), app_id, views, unlocks, opened, url,
    })) // prettier-ignore
    const more = readOn(lockers, limit, (last) => `add --before ${last.locker_id}`)
    return table(rows, `No lockers found. Create one with: ${hint('locker create --app APP --name NAME')}`) + more
  })
}

const statusOf = ({ settings, taken_down_reason }: Pick<ShownLocker, 'settings' | 'taken_down_reason'>) =>
  taken_down_reason === null ? (settings.enabled ? 'enabled' : 'disabled') : 'taken down'

async function create(options: OutputOptions & SettingOptions & { app: string }): Promise<void> {
  const input = readSettings(options, null)
  const locker = await changing(async (context) => {
    const { config, database: { db }, by } = context // prettier-ignore
    return readLocker(context, await createLocker(db, by, config, await findAppId(db, options.app), input))
  })
  show(options, locker, describe)
}

/** Locked from the first look on: of two who change different settings at once, neither undoes the other's. */
async function set(named: string, options: OutputOptions & SettingOptions): Promise<void> {
  const locker = await changing(async (context) => {
    const { config, database: { db }, by } = context // prettier-ignore
    const { locker_id } = await findLocker(db, named)
    await inTransaction(db, async (trx) => {
      const { lockerId, appId, settings } = await lockLocker(trx, locker_id)
      await changeLocker(trx, by, config, { appId, lockerId }, readSettings(options, settings))
    })
    return readLocker(context, locker_id)
  })
  show(options, locker, describe)
}

type SeenOptions = { seenReport?: string }

const seenOption = () =>
  new Option('--seen-report <id>', 'last_report_id of locker list --reported: reports up to it are closed')
const readSeen = ({ seenReport }: SeenOptions) => (seenReport === undefined ? null : readId(seenReport))

type TakeDownOptions = OutputOptions & ConfirmOptions & SeenOptions & { reason: string }

async function takeDown(named: string, options: TakeDownOptions): Promise<void> {
  const { reason } = options
  const seenReportId = readSeen(options)
  const { locker_id, name } = await withDatabase(({ database }) => findLocker(database.db, named))
  await confirm(`This takes locker ${locker_id}, "${name}", down: visitors can no longer open it.`, options)
  await withChange(({ database, by }) => takeDownLocker(database.db, by, locker_id, { reason, seenReportId }))
  show(options, { locker_id, taken_down_reason: reason }, () => `Locker ${locker_id}, "${name}", is taken down.`)
}

/** What the feature refuses is said by the names of options. */
const changing = (work: (context: Context) => Promise<ShownLocker>) =>
  withChange(work).catch((error: unknown) => {
    throw error instanceof AppError ? inOptions(error) : error
  })

async function readLocker({ config, database: { db } }: Context, lockerId: number): Promise<ShownLocker> {
  const [locker] = await searchLockers(db, config, { lockerId }, 1)
  return locker!
}

function describe({ settings: { name, link, look, ...settings }, locker_id, ...locker }: ShownLocker): string {
  return fields({ locker_id, name, status: statusOf({ settings: { name, link, look, ...settings }, ...locker }), ...locker, ...settings, ...lookFields(look), ...link }) // prettier-ignore
}
