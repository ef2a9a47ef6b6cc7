// The content and link lockers of an app.
import { Type } from 'typebox'
import { changeLocker, createLocker, listLockers } from '../../../features/lockers/lockers.ts'
import { Locker, LockerInput } from '../../../features/lockers/schema.ts'
import { beforeId, cutPage, ID_PAGE_QUERY, NextCursor } from '../../../http/paging.ts'
import { shape } from '../../../http/shape.ts'
import type { ManageContext } from '../../context.ts'
import { notThere } from '../../gate.ts'
import type { ManageRoutes } from '../../route.ts'
import { AppParams, id } from '../../shapes.ts'

const TAG = 'Lockers of an app'
const LIMIT = 20
const LockerOfAppParams = Type.Object({ app_id: id, locker_id: id })

export function lockersRoutes(routes: ManageRoutes, { db, config }: ManageContext): void {
  const find = async (appId: number, lockerId: number) => {
    const [locker] = await listLockers(db, config, { appId, lockerId }, 1)
    if (locker === undefined) throw notThere()
    return locker
  }

  routes.get('/apps/:app_id/lockers', {
    id: 'listLockers',
    summary: 'List the lockers of an app',
    about: 'Newest first, with how often they were seen and unlocked.',
    tag: TAG,
    access: 'publisher',
    params: AppParams,
    query: Type.Object(ID_PAGE_QUERY),
    reply: shape('LockerList', { lockers: Type.Array(Locker), next_cursor: NextCursor }),
    async run({ app, query: { cursor, limit = LIMIT } }) {
      const found = await listLockers(db, config, { appId: app.appId, ...beforeId(cursor) }, limit + 1)
      const { page, nextCursor } = cutPage(found, limit, (one) => String(one.locker_id))
      return { lockers: page, next_cursor: nextCursor }
    },
  })

  routes.post('/apps/:app_id/lockers', {
    id: 'createLocker',
    summary: 'Create a locker',
    about: 'With `link`, a link locker; otherwise a content locker. Fields that you leave out get their defaults.',
    tag: TAG,
    access: 'publisher',
    params: AppParams,
    body: LockerInput,
    reply: Locker,
    run: async ({ app, by, body }) => find(app.appId, await createLocker(db, by, config, app.appId, body)),
  })

  routes.get('/apps/:app_id/lockers/:locker_id', {
    id: 'getLocker',
    summary: 'Get a locker',
    about: 'Its settings and figures.',
    tag: TAG,
    access: 'publisher',
    params: LockerOfAppParams,
    reply: Locker,
    run: ({ app, params }) => find(app.appId, params.locker_id),
  })

  routes.put('/apps/:app_id/lockers/:locker_id', {
    id: 'setLocker',
    summary: 'Replace the settings of a locker',
    about: 'Replaces all settings, effective immediately. The password stays unless you send one.',
    tag: TAG,
    access: 'publisher',
    params: LockerOfAppParams,
    body: LockerInput,
    reply: Locker,
    async run({ app, by, params, body }) {
      const of = { appId: app.appId, lockerId: params.locker_id }
      await find(of.appId, of.lockerId)
      await changeLocker(db, by, config, of, body)
      return find(of.appId, of.lockerId)
    },
  })
}
