// Users banned in an app, or in all of them.
import { type BanFilter, banUser, liftBan, listBans } from '../../../features/apps/bans.ts'
import type { ManageContext } from '../../context.ts'
import { notThere } from '../../gate.ts'
import type { ManageRoutes } from '../../route.ts'
import { OK, Ok } from '../../shapes.ts'
import { BanList, BanListQuery, BanParams, BanReply, NewBan } from './schema.ts'

const TAG = 'Banned users'

export function banRoutes(routes: ManageRoutes, { db, refresh }: ManageContext): void {
  routes.get('/bans', {
    id: 'listBans',
    summary: 'List banned users',
    about: 'Newest first.',
    tag: TAG,
    access: 'operator',
    query: BanListQuery,
    reply: BanList,
    async run({ query }) {
      const { limit = 50 } = query
      const filter: BanFilter = {}
      if (query.app_id !== undefined) filter.appId = query.app_id
      if (query.user_id !== undefined) filter.userId = query.user_id
      if (query.cursor !== undefined) filter.before = query.cursor
      const found = await listBans(db, filter, limit + 1)
      const bans = found.slice(0, limit)
      return { bans, next_cursor: found.length > limit ? String(bans.at(-1)?.ban_id) : null }
    },
  })

  routes.post('/bans', {
    id: 'banUser',
    summary: 'Ban a user',
    about: 'In one app, or in all without `app_id`. Banned users see no offers, and their conversions are rejected.',
    tag: TAG,
    access: 'operator',
    body: NewBan,
    reply: BanReply,
    async run({ body, by }) {
      const { app_id = null, user_id, reason } = body
      const isNew = await banUser(db, by, { appId: app_id, userId: user_id, reason })
      await refresh()
      return { is_new: isNew }
    },
  })

  routes.delete('/bans/:ban_id', {
    id: 'liftBan',
    summary: 'Lift a ban',
    about: 'The user sees offers again. Rejected conversions stay rejected.',
    tag: TAG,
    access: 'operator',
    params: BanParams,
    reply: Ok,
    async run({ params, by }) {
      if ((await liftBan(db, by, params.ban_id)) === null) throw notThere()
      await refresh()
      return OK
    },
  })
}
