// What Offerdeck has about a user of an app: exported, erased.
import { Command } from 'commander'
import { countWaitingPostbacks, listErasures, requestErasure, statusOf } from '../features/users/erasures.ts'
import { beginExport, exportLines } from '../features/users/export.ts'
import { confirm, type ConfirmOptions, yesOption } from './confirm.ts'
import { withChange, withDatabase } from './context.ts'
import { findAppId } from './find.ts'
import { type OutputOptions, readId, readLimit, readOn, show, table } from './output.ts'
import { hint } from './usage.ts'
import { writeOut } from './write-out.ts'

type UserOptions = { app: string; user: string; test?: boolean }

const ofUser = (command: Command) =>
  command
    .requiredOption('--app <app>', 'the app that the user belongs to')
    .requiredOption('--user <id>', "the publisher's userId")
    .option('--test', 'a user in test mode')

export const exportCommand = () =>
  ofUser(new Command('export').description("export all data about an app's user, as lines of JSON"))
    .option('--out <file>', 'write to this file instead of the terminal')
    .action(async ({ app, user: userId, test, out }: UserOptions & { out?: string }) => {
      await withDatabase(async ({ database: { db }, by }) => {
        const user = { appId: await findAppId(db, app), isTest: test === true, userId }
        await beginExport(db, by, user)
        await writeOut(exportLines(db, user, 'operator', new Date()), out)
      })
    })

const EFFECT =
  'Their clicks, conversions and balance stay under a pseudonym, without IP addresses and sub-IDs; sub-IDs, tickets and unlocks are deleted, and log entries are blanked. This cannot be undone.' // prettier-ignore

export const eraseCommand = () =>
  ofUser(new Command('erase').description("erase an app's user, in the background"))
    .addOption(yesOption())
    .action(async (options: UserOptions & OutputOptions & ConfirmOptions) => {
      const { app, user: userId, test } = options
      await confirm(`This erases user "${userId}" of app ${app}. ${EFFECT}`, options)
      const result = await withChange(async ({ database: { db }, secretKey, by }) => {
        const user = { appId: await findAppId(db, app), isTest: test === true, userId }
        const asked = await requestErasure(db, by, secretKey, user, new Date())
        return asked === null ? null : { ...asked, waiting: await countWaitingPostbacks(db, user) }
      })
      if (result === null)
        return show(options, { erasure: null }, () => `There is no data about user "${userId}": nothing to erase.`)
      const { erasure, isNew, waiting } = result
      show(options, { erasure, is_new: isNew, waiting_postbacks: waiting }, () =>
        [
          isNew ? `Erasure ${erasure.erasure_id} is queued.` : `Erasure ${erasure.erasure_id} is already under way.`,
          ...(waiting === 0 ? [] : [`It waits until ${waiting} postbacks are delivered, for up to 3 days.`]),
          `Follow the progress with: ${hint('user erasures')}`,
        ].join('\n'),
      )
    })

export const erasuresCommand = () =>
  new Command('erasures')
    .description('list erasures of users, newest first')
    .option('--app <app>', 'only erasures in this app')
    .option('--before <id>', 'only erasures before this one')
    .option('--limit <n>', 'maximum number of results', '50')
    .action(async (options: OutputOptions & { app?: string; before?: string; limit: string }) => {
      const { app, before } = options
      const limit = readLimit(options.limit)
      const found = await withDatabase(async ({ database: { db } }) => {
        const appId = app === undefined ? undefined : await findAppId(db, app)
        return listErasures(db, appId, before === undefined ? undefined : readId(before), limit)
      })
      const rows = found.map((one) => ({
        erasure_id: one.erasure_id,
        app_id: one.app_id,
        mode: one.is_test ? 'test' : 'live',
        status: statusOf(one),
        pseudonym: one.pseudonym,
        requested_by: one.requested_by,
        requested_at: one.requested_at,
        done_at: one.done_at,
      }))
      show(options, found, () => {
        const more = readOn(found, limit, (last) => `add --before ${last.erasure_id}`)
        return table(rows, 'No erasures yet.') + more
      })
    })
