// The users of an app, and all that is known of one.
import { listBans } from '../../../features/apps/bans.ts'
import { readApp } from '../../../features/apps/read-app.ts'
import { readRewardSettings } from '../../../features/apps/reward-settings.ts'
import { searchClicks } from '../../../features/clicks/clicks.ts'
import { readOfferNames } from '../../../features/offers/offers.ts'
import { listEntries, presentEntry, readBalance } from '../../../features/users/balances.ts'
import {
  countWaitingPostbacks,
  type Erasure as FoundErasure,
  findErasureOf,
  listErasures,
  requestErasure,
  statusOf,
} from '../../../features/users/erasures.ts'
import { beginExport, exportLines } from '../../../features/users/export.ts'
import { listRecentUsers } from '../../../features/users/users.ts'
import { cutPage } from '../../../http/paging.ts'
import { stepsToUnits } from '../../../lib/money.ts'
import { isOperatorRole } from '../../../features/accounts/people.ts'
import type { ManageContext } from '../../context.ts'
import { NdjsonFile, sendNdjson } from '../../csv.ts'
import type { ManageRoutes } from '../../route.ts'
import { AppParams } from '../../shapes.ts'
import type { Static } from 'typebox'
import { AppUser, AppUserList, AppUserParams, AppUserQuery, Erasure, ErasureList, ErasureListQuery, ErasureReply, UserListQuery, UserMode } from './schema.ts' // prettier-ignore

const TAG = 'Users of an app'
const CLICKS = 20

export function appUserRoutes(routes: ManageRoutes, { db, secretKey }: ManageContext): void {
  routes.get('/apps/:app_id/users', {
    id: 'listUsersOfApp',
    summary: 'List the users of an app who converted recently',
    about: 'Find any other user by ID with `getUserOfApp`.',
    tag: TAG,
    access: 'publisher',
    params: AppParams,
    query: UserListQuery,
    reply: AppUserList,
    run: async ({ app: { appId }, query: { mode, limit = 50 } }) => ({
      users: await listRecentUsers(db, { appId, isTest: mode === 'test' }, limit),
    }),
  })

  routes.get('/apps/:app_id/users/:user_id', {
    id: 'getUserOfApp',
    summary: 'Get a user of an app',
    about:
      'Latest clicks, ban and balance. Conversions are in `listConversionsOfApp`. All are empty for an unknown user.',
    tag: TAG,
    access: 'publisher',
    params: AppUserParams,
    query: AppUserQuery,
    reply: AppUser,
    async run({ app: { appId }, params: { user_id: userId }, query: { mode, cursor, limit = 20 } }) {
      const user = { appId, isTest: mode === 'test', userId }
      const { rows } = await searchClicks(db, user, CLICKS)
      const names = new Map(
        (await readOfferNames(db, [...new Set(rows.map(({ offer_id }) => offer_id))])).map((one) => [
          one.offer_id,
          one.name,
        ]),
      )
      const entries = await listEntries(db, user, cursor === undefined ? null : Number(cursor), limit + 1)
      const { page, nextCursor } = cutPage(entries, limit, ({ entry_id }) => String(entry_id))
      const { currency } = await readApp(db, appId, new Date())
      return {
        user_id: userId,
        ban: await readBan(appId, userId),
        erasure: presentErasure(await findErasureOf(db, user)),
        clicks: rows.map(({ click_id, clicked_at, offer_id, country, device, os }) => {
          return { click_id, clicked_at, offer_id, offer_name: names.get(offer_id) ?? '', country, device, os }
        }),
        balance: stepsToUnits(await readBalance(db, user)),
        currency,
        keeps_balance: (await readRewardSettings(db, appId)).keepsBalance,
        entries: page.map(presentEntry),
        next_cursor: nextCursor,
      }
    },
  })

  routes.post('/apps/:app_id/users/:user_id/export', {
    id: 'exportUserOfApp',
    summary: 'Export all data about a user',
    about:
      'A file with a JSON object a line: `kind` says what it is. The first line names the user, the last one has the number of records.',
    tag: TAG,
    access: 'owner',
    params: AppUserParams,
    body: UserMode,
    reply: NdjsonFile,
    async run({ app: { appId }, params: { user_id: userId }, body: { mode }, caller, by, request, reply }) {
      const user = { appId, isTest: mode === 'test', userId }
      await beginExport(db, by, user)
      const reader = isOperatorRole(caller.role) ? 'operator' : 'publisher'
      await sendNdjson({ request, reply }, `user-of-app-${appId}.ndjson`, exportLines(db, user, reader, new Date()))
      return ''
    },
  })

  routes.post('/apps/:app_id/users/:user_id/erasure', {
    id: 'eraseUserOfApp',
    summary: 'Erase a user',
    about:
      'Cannot be undone. Clicks, conversions and balance stay under a pseudonym, without IP addresses and sub-IDs; sub-IDs, tickets and ' +
      'unlocks are deleted, and log entries are blanked. Queued postbacks are delivered first. A ban stays.',
    tag: TAG,
    access: 'owner',
    sensitive: true,
    params: AppUserParams,
    body: UserMode,
    reply: ErasureReply,
    async run({ app: { appId }, params: { user_id: userId }, body: { mode }, by }) {
      const user = { appId, isTest: mode === 'test', userId }
      const asked = await requestErasure(db, by, secretKey, user, new Date())
      return {
        erasure: presentErasure(asked?.erasure ?? null),
        waiting_postbacks: await countWaitingPostbacks(db, user),
      }
    },
  })

  routes.get('/apps/:app_id/erasures', {
    id: 'listErasuresOfApp',
    summary: 'List the erasures of users of an app',
    about: 'Without user IDs.',
    tag: TAG,
    access: 'owner',
    params: AppParams,
    query: ErasureListQuery,
    reply: ErasureList,
    async run({ app: { appId }, query: { cursor, limit = 20 } }) {
      const found = await listErasures(db, appId, cursor === undefined ? undefined : Number(cursor), limit + 1)
      const { page, nextCursor } = cutPage(found, limit, ({ erasure_id }) => String(erasure_id))
      return { erasures: page.map((one) => presentErasure(one)), next_cursor: nextCursor }
    },
  })

  /** Its reason is for operators. */
  async function readBan(appId: number, userId: string) {
    const [everywhere] = await listBans(db, { appId: null, userId }, 1)
    const [here] = await listBans(db, { appId, userId }, 1)
    const ban = everywhere ?? here
    return ban === undefined ? null : { is_everywhere: ban.app_id === null, created_at: ban.created_at }
  }
}

function presentErasure(erasure: FoundErasure): Static<typeof Erasure>
function presentErasure(erasure: FoundErasure | null): Static<typeof Erasure> | null
function presentErasure(erasure: FoundErasure | null) {
  if (erasure === null) return null
  const { erasure_id, is_test, pseudonym, requested_by, requested_at, erased_at, done_at, counts } = erasure
  const mode = is_test ? ('test' as const) : ('live' as const)
  const status = statusOf(erasure)
  return { erasure_id, mode, status, pseudonym, requested_by, requested_at, erased_at, done_at, counts: counts as Record<string, number> } // prettier-ignore
}
