// Lockers as their publishers set them up, and what the operator does about those that are abused.
import { sql } from 'kysely'
import { type Db, inTransaction, type Trx } from '../../db/open.ts'
import { AppError, NoSuch, OperatorError, badRequest } from '../../errors.ts'
import type { Reference } from '../../lib/reference.ts'
import { rfc3339 } from '../../lib/time.ts'
import { type Actor, recordAudit } from '../accounts/audit.ts'
import { hashPassword } from '../accounts/password-hash.ts'
import { keepImages } from '../offers/images.ts'
import { DEFAULTS, LINK_DEFAULTS } from './defaults.ts'
import type { Locker, LockerInput, LockerSettings } from './schema.ts'
import { createSlug, slugProblem, targetProblem } from './targets.ts'
import { versionOf } from '../../lib/version-of.ts'

const ORIGIN = /^https?:\/\/[a-z0-9]([a-z0-9.-]*[a-z0-9])?(:\d{1,5})?$/
export const MAX_OF_APP = 1_000
const MAX_MATCHES = 10

/** A locker as requests see it. */
export type KnownLocker = {
  lockerId: number
  appId: number
  kind: 'content' | 'link'
  slug: string | null
  settings: LockerSettings
  passwordHash: string | null
  opened: number
  isTakenDown: boolean
}

const KNOWN = ['locker_id', 'app_id', 'kind', 'slug', 'settings', 'password_hash', 'opened', 'taken_down_at'] as const

export async function findLocker(db: Db, by: { lockerId: number } | { slug: string }): Promise<KnownLocker | null> {
  const rows = db.selectFrom('lockers').select(KNOWN)
  const found = await ('slug' in by ? rows.where('slug', '=', by.slug) : rows.where('locker_id', '=', by.lockerId)).executeTakeFirst() // prettier-ignore
  if (found === undefined) return null
  return {
    lockerId: found.locker_id,
    appId: found.app_id,
    kind: found.kind as KnownLocker['kind'],
    slug: found.slug,
    settings: settingsOf(found.settings as LockerInput),
    passwordHash: found.password_hash,
    opened: found.opened,
    isTakenDown: found.taken_down_at !== null,
  }
}

/** What is not given, and what was stored before a setting existed, has its default. */
function settingsOf({
  slug: _slug,
  password: _password,
  seen_version: _seen,
  link,
  ...given
}: LockerInput): LockerSettings {
  const settings = { ...DEFAULTS, ...given, link: link == null ? null : { ...LINK_DEFAULTS, ...link } }
  if (settings.needed_offers === null && settings.needed_reward === null) settings.needed_offers = 1
  return settings
}

export type Network = { publicUrl: string }

export async function createLocker(db: Db, by: Actor, { publicUrl }: Network, appId: number, input: LockerInput) {
  const settings = checked(input, publicUrl)
  const slug = settings.link === null ? null : (input.slug?.toLowerCase() ?? createSlug())
  const problem = slug === null ? null : slugProblem(slug)
  if (problem !== null) throw badRequest({ slug: problem })
  const password = input.password == null ? null : await hashPassword(input.password)
  return inTransaction(db, async (trx) => {
    const publisherId = await lockApp(trx, appId)
    const { count } = await trx.selectFrom('lockers').select((is) => is.fn.countAll().as('count')).where('app_id', '=', appId).executeTakeFirstOrThrow() // prettier-ignore
    if (Number(count) >= MAX_OF_APP) throw badRequest({ name: `An app can have ${MAX_OF_APP} lockers.` })
    await keepImages(trx, { image: settings.image, og_image: settings.link?.og_image ?? null })
    const made = await trx
      .insertInto('lockers')
      .values({
        app_id: appId,
        kind: slug === null ? 'content' : 'link',
        slug,
        settings: JSON.stringify(settings),
        password_hash: password,
      })
      .onConflict((on) => on.doNothing())
      .returning('locker_id')
      .executeTakeFirst()
    if (made === undefined) throw badRequest({ slug: 'This name is taken. Choose another one.' })
    const details = { app_id: appId, slug, settings }
    await recordAudit(trx, by, { action: 'locker.create', subject: made.locker_id, publisherId, details })
    return made.locker_id
  })
}

/** Replaces the settings as a whole; the password only where it is given. A locker stays of its kind, at its URL. */
export async function changeLocker(db: Db, by: Actor, { publicUrl }: Network, of: Of, input: LockerInput) {
  const settings = checked(input, publicUrl)
  if (input.slug !== undefined) throw badRequest({ slug: 'The URL of a link cannot be changed.' })
  const password = input.password == null ? null : await hashPassword(input.password)
  await inTransaction(db, async (trx) => {
    const publisherId = await lockApp(trx, of.appId)
    const before = await trx.selectFrom('lockers').select(['kind', 'settings', 'password_hash']).where('locker_id', '=', of.lockerId).where('app_id', '=', of.appId).forUpdate().executeTakeFirst() // prettier-ignore
    if (before === undefined) throw new NoSuch('locker', of.lockerId)
    if (input.seen_version !== undefined && input.seen_version !== versionOfLocker(before))
      throw new AppError('CONFLICT', 'Someone else changed this locker. Review the current settings, then save again.')
    if ((before.kind === 'link') !== (settings.link !== null))
      throw badRequest({ link: 'The kind of a locker cannot be changed. Create another one.' })
    await keepImages(trx, { image: settings.image, og_image: settings.link?.og_image ?? null })
    await trx
      .updateTable('lockers')
      .set({ settings: JSON.stringify(settings), ...(input.password === undefined ? {} : { password_hash: password }) })
      .where('locker_id', '=', of.lockerId)
      .execute()
    const details = { before: before.settings, after: settings, password: input.password === undefined ? 'as it was' : 'changed' } // prettier-ignore
    await recordAudit(trx, by, { action: 'locker.change', subject: of.lockerId, publisherId, details })
  })
}

type Of = { appId: number; lockerId: number }

const versionOfLocker = ({ settings, password_hash }: { settings: unknown; password_hash: string | null }) =>
  versionOf([settings, password_hash])

/** For a change of what it has now: another process that changes it waits. */
export async function lockLocker(trx: Trx, lockerId: number): Promise<KnownLocker> {
  const known = await findLocker(trx, { lockerId })
  if (known === null) throw new NoSuch('locker', lockerId)
  await lockApp(trx, known.appId) // as every change does
  return (await findLocker(trx, { lockerId })) ?? known
}

async function lockApp(trx: Trx, appId: number): Promise<number> {
  const app = await trx.selectFrom('apps').select('publisher_id').where('app_id', '=', appId).forUpdate().executeTakeFirst() // prettier-ignore
  if (app === undefined) throw new NoSuch('app', appId)
  return app.publisher_id
}

function checked(input: LockerInput, publicUrl: string): LockerSettings {
  const settings = settingsOf(input)
  const { link, needed_offers, needed_reward, min_payout, max_payout } = settings
  const problems: Record<string, string> = {}
  if (needed_offers !== null && needed_reward !== null)
    problems['needed_reward'] = 'Give needed_offers or needed_reward, not both.'
  if (min_payout !== null && max_payout !== null && min_payout > max_payout)
    problems['max_payout'] = 'The highest payout must not be below the lowest.'
  if (input.password != null && link === null) problems['password'] = 'Only link lockers have a password.'
  if (input.slug !== undefined && link === null) problems['slug'] = 'Only link lockers have a URL of their own.'
  const target = link === null ? null : targetProblem(link.target_url, publicUrl)
  if (target !== null) problems['link.target_url'] = target
  const wrong = link?.referrers.find((one) => !ORIGIN.test(one) || URL.parse(one)?.origin !== one)
  if (wrong !== undefined) problems['link.referrers'] = `"${wrong}" is not an origin. Write it as https://www.example.com, without a path or the usual port.` // prettier-ignore
  if (Object.keys(problems).length > 0) throw badRequest(problems)
  return settings
}

/** Newest first, as the publisher sees them. */
export async function listLockers(
  db: Db,
  network: Network,
  filter: LockerFilter & { appId: number },
  limit: number,
): Promise<Locker[]> {
  const found = await searchLockers(db, network, filter, limit)
  return found.map(({ app_id: _app, ...locker }) => locker)
}

export type LockerFilter = { appId?: number; lockerId?: number; before?: number }

/** Newest first, with their apps. Filters are combined with AND; an absent one is ignored. */
export async function searchLockers(
  db: Db,
  { publicUrl }: Network,
  { appId, lockerId, before }: LockerFilter,
  limit: number,
): Promise<(Locker & { app_id: number })[]> {
  let rows = db.selectFrom('lockers').select([...KNOWN, 'views', 'unlocks', 'taken_down_reason', 'created_at'])
  if (appId !== undefined) rows = rows.where('app_id', '=', appId)
  if (lockerId !== undefined) rows = rows.where('locker_id', '=', lockerId)
  if (before !== undefined) rows = rows.where('locker_id', '<', before)
  return (await rows.orderBy('locker_id', 'desc').limit(limit).execute()).map((row) => ({
    locker_id: row.locker_id,
    app_id: row.app_id,
    kind: row.kind as Locker['kind'],
    url: row.slug === null ? null : `${publicUrl}/l/${row.slug}`,
    has_password: row.password_hash !== null,
    settings: settingsOf(row.settings as LockerInput),
    views: row.views,
    unlocks: row.unlocks,
    opened: row.opened,
    taken_down_reason: row.taken_down_reason,
    created_at: rfc3339(row.created_at),
    version: versionOfLocker(row),
  }))
}

/** By ID, name, or the end of their link. */
export const matchLockers = (db: Db, { id, name }: Reference) =>
  db
    .selectFrom('lockers')
    .select(['locker_id', sql<string>`settings ->> 'name'`.as('name')])
    .where((is) =>
      is.or([is('locker_id', '=', id), is('slug', '=', name), sql<boolean>`settings ->> 'name' = ${name}`]),
    )
    .orderBy('locker_id')
    .limit(MAX_MATCHES)
    .execute()

export type LockerDecision = {
  /** Why it is taken down; null restores it. */
  reason: string | null
  /** The newest report that was looked at: it and those before it are closed. Without it, none is. */
  seenReportId?: number | null
}

export async function takeDownLocker(db: Db, by: Actor, lockerId: number, decision: LockerDecision): Promise<void> {
  const { reason, seenReportId = null } = decision
  if (reason?.trim() === '') throw new OperatorError('Enter a reason: the publisher sees it.', 'reason')
  await inTransaction(db, async (trx) => {
    const found = await trx
      .updateTable('lockers')
      .from('apps')
      .whereRef('apps.app_id', '=', 'lockers.app_id')
      .where('locker_id', '=', lockerId)
      .set({ taken_down_at: reason === null ? null : sql<Date>`now()`, taken_down_reason: reason })
      .returning('publisher_id')
      .executeTakeFirst()
    if (found === undefined) throw new NoSuch('locker', lockerId)
    if (seenReportId !== null)
      await trx
        .updateTable('locker_reports')
        .set({ closed_at: sql`now()` })
        .where('locker_id', '=', lockerId)
        .where('report_id', '<=', seenReportId)
        .where('closed_at', 'is', null)
        .execute()
    const action = reason === null ? 'locker.restore' : 'locker.take_down'
    const details = reason === null ? {} : { reason }
    await recordAudit(trx, by, { action, subject: lockerId, publisherId: found.publisher_id, details })
  })
}
