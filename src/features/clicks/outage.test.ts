// Clicks while the database is unavailable: no user is kept from an offer, no click is lost or recorded twice.
import assert from 'node:assert/strict'
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import type { App } from '../../app.ts'
import { listPartitions } from '../../db/partitions.ts'
import { uuid7 } from '../../lib/uuid7.ts'
import { until } from '../../../test/installation.ts'
import { PostgresProxy } from '../../../test/postgres-proxy.ts'
import { BROWSER, useWorld } from '../../../test/world.ts'
import type { IssuedCredentials } from '../apps/keys.ts'
import type { Click } from './clicks.ts'

let appId: number
let live: IssuedCredentials
const world = useWorld('outage', async () => {
  ;({ appId, live } = await world.createApp())
})

let folders = 0
function createFolder(): string {
  const folder = join(world.dataDir, `of-app-${folders++}`)
  mkdirSync(folder)
  return folder
}

/** An app whose database can be cut off, with its own data folder. */
async function withProxy(
  run: (at: { app: App; proxy: PostgresProxy; dataDir: string }) => Promise<void>,
  dataDir = createFolder(),
): Promise<void> {
  const proxy = await PostgresProxy.open(world)
  const app = await world.start({ dataDir }, proxy.database)
  try {
    await run({ app, proxy, dataDir })
  } finally {
    proxy.restore()
    await app.close()
    await proxy.close()
  }
}

async function linkOf(offerId: number, userId: string): Promise<string> {
  const { body } = await world.get(`/v1/offers/${offerId}?userId=${userId}`, live)
  return body.data.offer.link.replace(world.config.publicUrl, '')
}

async function follow(app: App, link: string) {
  const answer = await app.server.inject({ url: link, headers: { 'user-agent': BROWSER } })
  const clickId = URL.parse(answer.headers.location ?? '')?.searchParams.get('c') ?? ''
  return { status: answer.statusCode, clickId, headers: answer.headers, text: answer.body }
}

const clicksOn = async (offerId: number) =>
  (await world.database.db.selectFrom('clicks').select('click_id').where('offer_id', '=', offerId).orderBy('click_id').execute()).map((row) => row.click_id) // prettier-ignore

const usedOf = async (offerId: number) =>
  (await world.database.db.selectFrom('offer_usage').select('clicks').where('offer_id', '=', offerId).where('day', '=', 0).executeTakeFirst())?.clicks // prettier-ignore

const spooled = (dataDir: string) =>
  readdirSync(join(dataDir, 'spool', 'clicks'), { recursive: true, encoding: 'utf8' }).filter((name) =>
    name.endsWith('.jsonl'),
  )

test('the user is sent on, the click waits in the spool, and is recorded once under the same id', async () => {
  const [offerId = 0] = await world.createOffers({})
  const links = await Promise.all(['a', 'b', 'c'].map((userId) => linkOf(offerId, userId)))
  await withProxy(async ({ app, proxy, dataDir }) => {
    proxy.cut()
    const answers = await Promise.all(links.map((link) => follow(app, link)))
    assert.deepEqual(answers.map(({ status }) => status), [302, 302, 302]) // prettier-ignore
    assert.deepEqual(await clicksOn(offerId), [])
    assert.ok(spooled(dataDir).length > 0)
    proxy.restore()
    await until(() => spooled(dataDir).length === 0)
    assert.deepEqual(await clicksOn(offerId), answers.map(({ clickId }) => clickId).toSorted())
    const [{ clickId } = { clickId: '' }] = answers
    assert.equal((await world.confirm(offerId, clickId)).outcome, 'approved')
  })
})

test('clicks in the spool pass a cap, and are counted when they are recorded', async () => {
  const [offerId = 0] = await world.createOffers({ total_click_cap: 1 })
  const link = await linkOf(offerId, 'u')
  await withProxy(async ({ app, proxy, dataDir }) => {
    proxy.cut()
    const answers = await Promise.all([1, 2, 3].map(() => follow(app, link)))
    assert.deepEqual(answers.map(({ status }) => status), [302, 302, 302]) // prettier-ignore
    proxy.restore()
    await until(() => spooled(dataDir).length === 0)
    assert.deepEqual([(await clicksOn(offerId)).length, await usedOf(offerId)], [3, 3])
    await world.app.refresh()
    assert.equal((await world.follow(link)).status, 410)
  })
})

test('a click that was committed while its answer was lost is recorded once and counted once', async () => {
  const [plain = 0, capped = 0] = await world.createOffers({}, { total_click_cap: 5 })
  const links = [await linkOf(plain, 'u'), await linkOf(capped, 'u')]
  for (const [i, statement] of ['add-clicks', 'commit'].entries()) {
    await withProxy(async ({ app, proxy, dataDir }) => {
      proxy.swallowAnswerTo(statement)
      const { status, clickId } = await follow(app, links[i] ?? '')
      assert.equal(status, 302)
      assert.ok(proxy.hasSwallowed, 'the connection broke at the statement meant')
      await until(() => spooled(dataDir).length === 0)
      assert.deepEqual(await clicksOn([plain, capped][i] ?? 0), [clickId])
    })
  }
  assert.equal(await usedOf(capped), 1)
})

test('a database that stops answering delays no user for long, and the click is recorded once', async () => {
  const [offerId = 0] = await world.createOffers({})
  const link = await linkOf(offerId, 'u')
  await withProxy(async ({ app, proxy, dataDir }) => {
    proxy.freeze()
    const startedMs = performance.now()
    const { status, clickId } = await follow(app, link)
    assert.equal(status, 302)
    assert.ok(performance.now() - startedMs < 14_000) // a query would wait for 15 s
    proxy.restore()
    await until(() => spooled(dataDir).length === 0)
    assert.deepEqual(await clicksOn(offerId), [clickId])
  })
})

test('what a process left in its spool is recorded by the next one', async () => {
  const [offerId = 0] = await world.createOffers({})
  const link = await linkOf(offerId, 'u')
  const dataDir = createFolder()
  let clickId = ''
  await withProxy(async ({ app, proxy }) => {
    proxy.cut()
    ;({ clickId } = await follow(app, link))
    await app.close()
  }, dataDir)
  assert.deepEqual(await clicksOn(offerId), [])
  assert.equal(spooled(dataDir).length, 1)
  await withProxy(async () => void (await until(() => spooled(dataDir).length === 0)), dataDir)
  assert.deepEqual(await clicksOn(offerId), [clickId])
})

test('with neither database nor a writable folder, the user is asked to retry', async () => {
  const [offerId = 0] = await world.createOffers({})
  const link = await linkOf(offerId, 'u')
  const dataDir = createFolder()
  writeFileSync(join(dataDir, 'spool'), 'in the way')
  await withProxy(async ({ app, proxy }) => {
    proxy.cut()
    const answer = await follow(app, link)
    assert.deepEqual([answer.status, answer.headers['retry-after'], answer.clickId], [503, '60', ''])
    assert.match(answer.text, /<h1>Please try again<\/h1>/)
    assert.match(String(answer.headers['content-security-policy']), /^default-src 'none'; style-src 'self';/)
    assert.doesNotMatch(answer.text, /ENOTDIR|EEXIST|spool/)
    proxy.restore()
    await until(async () => (await follow(app, link)).status === 302)
  }, dataDir)
})

test('a click that comes out of a spool after weeks finds its place', async () => {
  const { db } = world.database
  const [offerId = 0] = await world.createOffers({})
  const { terms_id } = await db.selectFrom('offers').select('terms_id').where('offer_id', '=', offerId).executeTakeFirstOrThrow() // prettier-ignore
  const times = [40, 20, 0].map((days) => Date.now() - days * 86_400_000)
  const clicks: Click[] = times.map((timeMs) => ({
    click_id: uuid7(timeMs), clicked_at: new Date(timeMs).toISOString(), app_id: appId, is_test: false, user_id: 'late',
    offer_id: offerId, terms_id: terms_id ?? 0, currency: 'Coins', rate_micros: 100_000_000, share_ppm: null, request_id: 'req_1',
    aff_sub: null, aff_sub2: null, aff_sub3: null, aff_sub4: null, ip: null, country: null, device: null, os: null, signals: null,
  })) // prettier-ignore
  const orphan = join(world.dataDir, 'spool', 'clicks', 'of-a-process-that-is-gone')
  mkdirSync(orphan, { recursive: true })
  writeFileSync(join(orphan, '000000000.jsonl'), clicks.map((click) => `${JSON.stringify(click)}\n`).join(''))
  await until(async () => (await clicksOn(offerId)).length === 3)
  assert.deepEqual(await clicksOn(offerId), clicks.map((click) => click.click_id)) // prettier-ignore
  const name = `clicks_${clicks[0]?.clicked_at.slice(0, 10).replaceAll('-', '')}`
  assert.ok((await listPartitions(db, 'clicks')).includes(name))
})
