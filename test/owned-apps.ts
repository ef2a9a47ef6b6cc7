// Apps with a person who manages them, for tests of the management API.
import { TESTER } from './tester.ts'
import { publisherOfApp, visit } from './people.ts'
import type { World } from './world.ts'

export const createOwnedApps = (world: World) => ({
  /** An app, and a member of its publisher. */
  createOwned: async (role: 'publisher_owner' | 'publisher_developer' = 'publisher_owner') => {
    const made = await world.createApp()
    const publisherId = await publisherOfApp(world, made.appId)
    return { ...made, publisherId, base: `/apps/${made.appId}`, visitor: await visit(world, role, publisherId) }
  },
  /** What people did to it, by actions that start so. */
  auditOf: (subject: number | string, action = '') =>
    world.database.db
      .selectFrom('audit_log')
      .select(['action', 'who', 'publisher_id', 'details'])
      .where('subject', '=', String(subject))
      .where('action', 'like', `${action}%`)
      .where('who', '<>', TESTER.email)
      .orderBy('audit_id')
      .execute(),
  /** What people did with it, but for signing in. */
  auditOfPublisher: (publisherId: number) =>
    world.database.db
      .selectFrom('audit_log')
      .select(['action', 'details'])
      .where('publisher_id', '=', publisherId)
      .where('action', '<>', 'session.start')
      .where('who', '<>', TESTER.email)
      .orderBy('audit_id')
      .execute(),
})
