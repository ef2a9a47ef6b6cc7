// The users of an app, and all that is known of one.
import { listBans } from '../../../features/apps/bans.ts'
import { readApp } from '../../../features/apps/read-app.ts'
import { readRewardSettings } from '../../../features/apps/reward-settings.ts'
import { searchClicks } from '../../../features/clicks/clicks.ts'
import { readOfferNames } from '../../../features/offers/offers.ts'
import { listEntries, presentEntry, readBalance } from '../../../features/users/balances.ts'
import { listRecentUsers } from '../../../features/users/users.ts'
import { cutPage } from '../../../http/paging.ts'
import { stepsToUnits } from '../../../lib/money.ts'
import type { ManageContext } from '../../context.ts'
import type { ManageRoutes } from '../../route.ts'
import { AppParams } from '../../shapes.ts'
import { AppUser, AppUserList, AppUserParams, AppUserQuery, UserListQuery } from './schema.ts'

const TAG = 'Users of an app'
const CLICKS = 20

export function appUserRoutes(routes: ManageRoutes, { db }: ManageContext): void {
  routes.get('/apps/:app_id/users', {
    id: 'listUsersOfApp',
    summary: 'List the users of an app who converted last',
    about: 'Any other user is found by the ID, with `getUserOfApp`.',
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
      'Latest clicks, ban and balance. Conversions are in `listConversionsOfApp`. An unknown user has nothing of it.',
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

  /** Its reason is for operators. */
  async function readBan(appId: number, userId: string) {
    const [everywhere] = await listBans(db, { appId: null, userId }, 1)
    const [here] = await listBans(db, { appId, userId }, 1)
    const ban = everywhere ?? here
    return ban === undefined ? null : { is_everywhere: ban.app_id === null, created_at: ban.created_at }
  }
}
