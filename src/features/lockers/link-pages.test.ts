// Pages of lockers that are open while something changes, and while the database is away.
import assert from 'node:assert/strict'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { PostgresProxy } from '../../../test/postgres-proxy.ts'
import { TESTER } from '../../../test/tester.ts'
import { BROWSER, useWorld } from '../../../test/world.ts'
import { changeLocker, createLocker, findLocker } from './lockers.ts'
import type { LockerBoot, LockerInput } from './schema.ts'

const world = useWorld('link_pages')
const TARGET = 'https://files.example.com/secret-4711'

async function createLink() {
  const { db } = world.database
  const { appId } = await world.createApp()
  const lockerId = await createLocker(db, TESTER, world.config, appId, { name: 'Link', link: { target_url: TARGET } })
  const slug = (await findLocker(db, { lockerId }))?.slug ?? ''
  const change = (link: Partial<NonNullable<LockerInput['link']>>) =>
    changeLocker(db, TESTER, world.config, { appId, lockerId }, { name: 'Link', link: { target_url: TARGET, ...link } })
  return { lockerId, slug, change }
}

test('a page that was open before its link got a rule about referrers is out of date, and works with other changes', async () => {
  const { lockerId, slug, change } = await createLink()
  const open = async (referer?: string) => {
    const { body } = await world.app.server.inject({ url: `/l/${slug}`, headers: { 'user-agent': BROWSER, ...(referer === undefined ? {} : { referer }) } }) // prettier-ignore
    return (JSON.parse(/id="boot">(.*?)<\/script>/.exec(body)?.[1] ?? 'null') as LockerBoot | null)?.pass ?? ''
  }
  const visit = async (pass: string) => {
    const answer = await world.app.server.inject({ method: 'POST', url: `/locker/v1/lockers/${lockerId}/visits`, payload: { pass }, headers: { 'user-agent': BROWSER } }) // prettier-ignore
    return answer.json<{ error?: { details: { locker: string } } }>().error?.details.locker ?? 'works'
  }
  const before = await open()
  await change({ og_title: 'New' })
  assert.equal(await visit(before), 'works')
  await change({ referrers: ['https://blog.example', 'https://shop.example'] })
  assert.equal(await visit(before), 'stale')
  const without = await open()
  assert.equal(await visit(without), 'works')
  await change({ referrers: ['https://shop.example', 'https://blog.example'] })
  assert.equal(await visit(without), 'works')
  await change({ referrers: ['https://blog.example'], allows_no_referrer: false })
  assert.equal(await visit(without), 'stale')
  assert.equal(await visit(await open('https://blog.example/post')), 'works')
})

test('a visitor reads a page while the database is away, and when too many come from one network', async () => {
  const { lockerId, slug } = await createLink()
  const dataDir = join(world.dataDir, 'away')
  mkdirSync(dataDir)
  const proxy = await PostgresProxy.open(world)
  const app = await world.start({ dataDir }, proxy.database)
  const open = async (url: string) => {
    const { statusCode, headers, body } = await app.server.inject({ url, headers: { 'user-agent': BROWSER, 'accept-language': 'de' } }) // prettier-ignore
    return [statusCode, headers['content-type'], /<h1>(.*)<\/h1>/.exec(body)?.[1]]
  }
  const said = ['text/html; charset=utf-8', 'Bitte versuche es noch einmal']
  const urls = [`/l/${slug}`, `/locker?locker=${lockerId}`]
  try {
    proxy.cut()
    for (const url of urls) assert.deepEqual(await open(url), [503, ...said])
    proxy.restore()
    await Promise.all(Array.from({ length: 3_000 }, () => app.server.inject('/l/no-such-link')))
    for (const url of urls) assert.deepEqual(await open(url), [429, ...said])
  } finally {
    proxy.restore()
    await app.close()
    await proxy.close()
  }
})
