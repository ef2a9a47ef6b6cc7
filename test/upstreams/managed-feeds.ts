// Feeds that an operator manages through the door, each of its own upstream; `work` runs them as a worker does.
import assert from 'node:assert/strict'
import type { Static } from 'typebox'
import { runAskedFeeds, runDueFeeds } from '../../src/features/feeds/due-feeds.ts'
import { createGuardedOpener } from '../../src/features/postbacks/app-sender.ts'
import type { ChangePage, CreatedFeed, Run, ShownFeed } from '../../src/manage/operator/feeds/schema.ts'
import { createOwnedApps } from '../owned-apps.ts'
import { createPerson, Visitor } from '../people.ts'
import { SECRET_KEY, useWorld } from '../world.ts'
import { Upstream } from './server.ts'
import { upstreamOffer } from './shapes.ts'

export type Shown = Static<typeof ShownFeed>

export function useManagedFeeds(name: string) {
  const world = useWorld(name, async () => {
    await operator.signIn((await createPerson(world, 'operator')).email)
  })
  world.config = { ...world.config, postbackAllow: ['127.0.0.1/32', '::1/128'] }
  const operator = new Visitor(world)
  let count = 0

  async function work(): Promise<void> {
    const runner = { db: world.database.db, secretKey: SECRET_KEY, open: createGuardedOpener(world.config) }
    await runAskedFeeds(runner, assert.fail)
    await runDueFeeds(runner, assert.fail)
  }

  async function addFeed(settings: object = {}, offers = 10) {
    const upstream = await new Upstream('lootably').open()
    upstream.offers = Array.from({ length: offers }, (_, n) => upstreamOffer(n))
    const { request, mapping, credentials } = upstream.source
    const body = {
      name: `Feed ${count++}`,
      request,
      mapping,
      credentials,
      settings: { share_percent: 50, ...settings },
    }
    const { data, status, text } = await operator.post<Static<typeof CreatedFeed>>('/feeds', body)
    assert.equal(status, 200, text)
    const one = `/feeds/${data.feed.feed_id}`
    const ask = async (what: 'run' | 'preview') => {
      const { data: asked } = await operator.post<Static<typeof Run>>(`${one}/${what}`, {})
      await work()
      return (await operator.get<Static<typeof Run>>(`${one}/runs/${asked.feed_run_id}`)).data
    }
    const changesOf = async (runId: number, query = '') => (await operator.get<Static<typeof ChangePage>>(`${one}/runs/${runId}/changes?${query}`)).data // prettier-ignore
    return { upstream, request, one, ask, changesOf, created: data, feedId: data.feed.feed_id }
  }

  return { world, operator, auditOf: createOwnedApps(world).auditOf, addFeed, work }
}
