import { Command, Option } from 'commander'
import type { Db } from '../db/open.ts'
import type { Actor } from '../features/accounts/audit.ts'
import { revokeApp, rotateSecret } from '../features/apps/keys.ts'
import type { Mode } from '../features/apps/secrets.ts'
import { rotateSigningSecret } from '../features/apps/signing-secrets.ts'
import { distrustApp, type TrustedOffers, trustApp } from '../features/apps/trust.ts'
import { parseDuration } from '../lib/duration.ts'
import { setPostbackCommand } from './app-postback.ts'
import { createAppCommand, setAppCommand } from './app-settings.ts'
import { listAppsCommand, showAppCommand } from './app-show.ts'
import { confirm, type ConfirmOptions, yesOption } from './confirm.ts'
import { withChange, withDatabase } from './context.ts'
import { findApp, findAppId, findOfferId } from './find.ts'
import { collect, fields, type OutputOptions, show } from './output.ts'
import { UsageError } from './usage.ts'

export const appCommand = () =>
  new Command('app')
    .addCommand(createAppCommand())
    .addCommand(listAppsCommand())
    .addCommand(showAppCommand())
    .addCommand(setAppCommand())
    .addCommand(setPostbackCommand())
    .addCommand(
      rotateCommand(
        'rotate-secret',
        'issue a new API secret; the old one keeps working for the grace period',
        rotateSecret,
      ),
    )
    .addCommand(
      rotateCommand(
        'rotate-signing-secret',
        'issue a new secret for signing postbacks; both sign them for the grace period',
        rotateSigningSecret,
      ),
    )
    .addCommand(
      trustCommand(
        'trust',
        'trust an app: conversions it reports for these offers are approved immediately',
        trustApp,
        'trusted',
      ),
    )
    .addCommand(trustCommand('distrust', "stop trusting an app's reports", distrustApp, 'no longer trusted'))
    .addCommand(
      new Command('revoke')
        .description('revoke both keys of an app permanently')
        .argument('<app>', 'ID or name')
        .addOption(
          new Option('--only <mode>', 'revoke only this key; the other keeps working').choices(['live', 'test']),
        )
        .addOption(yesOption())
        .action(revoke),
    )

async function revoke(named: string, options: OutputOptions & ConfirmOptions & { only?: Mode }): Promise<void> {
  const { only } = options
  const { app_id, name } = await withDatabase(({ database }) => findApp(database.db, named))
  const what =
    only === undefined ? `both keys of app ${app_id}, "${name}"` : `the ${only} key of app ${app_id}, "${name}"`
  await confirm(`This revokes ${what}, permanently.`, options)
  await withChange(({ database, by }) => revokeApp(database.db, by, app_id, only))
  show(
    options,
    { app_id, revoked: only === undefined ? ['live', 'test'] : [only] },
    () => `Revoked ${what}. All servers refuse them within a second.`,
  )
}

type RotateVerb = (
  db: Db,
  by: Actor,
  secretKey: string,
  appId: number,
  mode: Mode,
  graceMs: number,
) => Promise<Record<string, unknown>>

function rotateCommand(name: string, description: string, rotate: RotateVerb): Command {
  return new Command(name)
    .description(description)
    .argument('<app>', 'ID or name')
    .option(
      '--grace <time>',
      'how long the old one keeps working, such as 90s, 15m, 24h or 7d; 0s revokes it immediately',
      '24h',
    )
    .option('--test', "rotate the test key's secret instead of the live key's")
    .addOption(yesOption())
    .action(async (named: string, options: OutputOptions & ConfirmOptions & { grace: string; test?: boolean }) => {
      const graceMs = parseDuration(options.grace)
      if (graceMs === null) throw new UsageError('--grace must be a duration such as 90s, 15m, 24h or 7d.')
      if (graceMs === 0) await confirm('The old secret stops working immediately.', options)
      const rotated = await withChange(async ({ database: { db }, secretKey, by }) =>
        rotate(db, by, secretKey, await findAppId(db, named), options.test ? 'test' : 'live', graceMs),
      )
      show(options, rotated, () => `Store the new secret now: it won't be shown again.\n\n${fields(rotated)}`)
    })
}

type TrustVerb = (db: Db, by: Actor, appId: number, offers: TrustedOffers) => Promise<number>

function trustCommand(name: string, description: string, change: TrustVerb, done: string): Command {
  const more = name === 'trust' ? 'more ' : ''
  return new Command(name)
    .description(description)
    .argument('<app>', 'ID or name')
    .option('--offer <offer>', 'ID or name of an offer (can be repeated)', collect, [])
    .option('--all', 'all offers that exist now')
    .addOption(yesOption())
    .action(async (named: string, options: OutputOptions & ConfirmOptions & { offer: string[]; all?: boolean }) => {
      if (options.all !== true && options.offer.length === 0)
        throw new UsageError('Choose offers with --offer, or use --all.')
      if (name === 'distrust')
        await confirm(`What app "${named}" reports will wait for the advertiser or your decision.`, options)
      else if (options.all === true)
        await confirm(`What app "${named}" reports for current offers will be approved immediately and paid.`, options)
      const { app_id, changed } = await withChange(async ({ database: { db }, by }) => {
        const app = await findApp(db, named)
        const offers =
          options.all === true ? 'all' : await Promise.all(options.offer.map((one) => findOfferId(db, one)))
        return { app_id: app.app_id, changed: await change(db, by, app.app_id, offers) }
      })
      show(
        options,
        { app_id, changed },
        () => `App ${app_id} is ${done} for ${changed} ${more}${changed === 1 ? 'offer' : 'offers'}.`,
      )
    })
}
