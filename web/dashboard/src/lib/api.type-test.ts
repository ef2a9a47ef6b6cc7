// What must not compile: a request that its operation does not take. Checked with the types of the dashboard.
import { get, patch, post, put, remove } from './api.ts'
import type { Labels } from './statuses.ts'

export const wrong = [
  // @ts-expect-error there is no such path
  () => get('/nothing'),
  // @ts-expect-error this path has no such method
  () => put('/bans', { user_id: 'u', reason: 'r' }),
  // @ts-expect-error a mode that there is not
  () => post('/apps/1/credentials/dead/revoke'),
  // @ts-expect-error an unknown parameter
  () => get('/offers', { colour: 'red' }),
  // @ts-expect-error a value that the parameter does not have
  () => get('/offers', { status: 'gone' }),
  // @ts-expect-error this operation takes no query
  () => get('/me', { search: 'a' }),
  // @ts-expect-error a body without a field that it needs
  () => post('/bans', { user_id: 'u' }),
  // @ts-expect-error a field of another type
  () => post('/bans', { user_id: 'u', reason: 'r', app_id: '1' }),
  // @ts-expect-error no body at all
  () => patch('/apps/1'),
  // @ts-expect-error this operation takes no body
  () => post('/offers/1/pause', { reason: 'r' }),
  // @ts-expect-error a reply is what its operation replies
  async () => (await remove('/bans/1')).bans,
]

// @ts-expect-error a list of labels without one of its values
export const incomplete: Labels<'live' | 'test'> = { live: 'Live' }
