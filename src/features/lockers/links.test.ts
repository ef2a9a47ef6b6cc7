// Link lockers through the door: the target stays on the server until the link is unlocked.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { AppError } from '../../errors.ts'
import { publisherOfApp } from '../../../test/people.ts'
import { TESTER } from '../../../test/tester.ts'
import { BROWSER, useWorld } from '../../../test/world.ts'
import { revokeApp } from '../apps/keys.ts'
import { permit } from '../apps/permissions.ts'
import { changeRewardSettings } from '../apps/reward-settings.ts'
import { createLocker, findLocker } from './lockers.ts'
import { listReported } from './reports.ts'
import type { LockerBoot, LockerInput, LockerState } from './schema.ts'
import { slugProblem, targetProblem } from './targets.ts'

const world = useWorld('link_lockers')
const TARGET = 'https://files.example.com/secret-4711'

type Link = NonNullable<LockerInput['link']>

async function createLink(link: Partial<Link> = {}, more: Partial<LockerInput> = {}) {
  const { appId } = await world.createApp()
  const lockerId = await createLocker(world.database.db, TESTER, world.config, appId, { name: 'Link', ...more, link: { target_url: TARGET, ...link } }) // prettier-ignore
  const locker = (await findLocker(world.database.db, { lockerId }))!
  return { appId, lockerId, slug: locker.slug ?? '' }
}

async function get(slug: string, headers: Record<string, string> = {}) {
  const answer = await world.app.server.inject({ url: `/l/${slug}`, headers: { 'user-agent': BROWSER, ...headers } })
  const boot = JSON.parse(/id="boot">(.*?)<\/script>/.exec(answer.body)?.[1] ?? 'null') as LockerBoot | null
  return { status: answer.statusCode, body: answer.body, headers: answer.headers, boot }
}

async function post<T>(path: string, payload: object, headers: Record<string, string> = {}) {
  const answer = await world.app.server.inject({ method: 'POST', url: path, payload, headers: { 'user-agent': BROWSER, ...headers } }) // prettier-ignore
  const { data, error } = JSON.parse(answer.body) as { data: T; error?: { details: Record<string, string> | null } }
  return { status: answer.statusCode, data, details: error?.details ?? {}, headers: answer.headers, text: answer.body }
}

/** A visitor of this link who has completed an offer. */
async function unlockedVisitor({ lockerId, slug }: { lockerId: number; slug: string }, offerId: number) {
  const pass = (await get(slug)).boot?.pass ?? ''
  const visits = `/locker/v1/lockers/${lockerId}/visits`
  const { data } = await post<LockerState>(visits, { pass })
  const before = await post(`/l/${slug}/open`, { visitor: data.visitor, key: data.key, pass })
  assert.deepEqual([before.status, before.details['locker']], [400, 'locked'])
  const link = data.offers.find(({ offer_id }) => offer_id === offerId)?.link ?? ''
  await world.confirm(offerId, (await world.follow(link)).clickId)
  return { visitor: data.visitor, key: data.key, pass }
}

test('the pages are shown in a language whatever was sent for it', async () => {
  const { lockerId, slug } = await createLink()
  for (const query of [
    'lang=de&lang=fr',
    'lang=%zz',
    'lang[]=de',
    `locker=${lockerId}&locker=1&test=1&test=1&origin=a&origin=b`,
  ])
    for (const path of [`/l/${slug}`, '/l/none', '/locker'])
      assert.ok((await world.app.server.inject(`${path}?${query}`)).statusCode < 500, `${path}?${query}`)
})

test('the target is in no answer before the link is unlocked, and opening uses the unlock up', async () => {
  const link = await createLink()
  const [offerId = 0] = await world.createOffers({})
  const page = await get(link.slug)
  assert.doesNotMatch(page.body, /secret-4711/)
  assert.match(String(page.headers['content-security-policy']), /frame-ancestors 'none'/)
  const known = await unlockedVisitor(link, offerId)
  const opened = await post<{ target_url: string }>(`/l/${link.slug}/open`, known)
  assert.equal(opened.data.target_url, TARGET)
  assert.match(String(opened.headers['cache-control']), /no-store/)
  assert.equal((await post(`/l/${link.slug}/open`, known)).status, 200, 'a lost answer is given again')
  await world.database.pool.query("UPDATE locker_unlocks SET opened_at = opened_at - interval '2 minutes' WHERE locker_id = $1", [link.lockerId]) // prettier-ignore
  const later = await post(`/l/${link.slug}/open`, known)
  assert.deepEqual([later.status, later.details['locker']], [400, 'locked'])
  assert.equal((await findLocker(world.database.db, link))?.opened, 1)
})

test('calls without the page’s pass, or with another link’s, are refused', async () => {
  const link = await createLink()
  const other = await createLink()
  const [offerId = 0] = await world.createOffers({})
  const known = await unlockedVisitor(link, offerId)
  const pass = (await get(other.slug)).boot?.pass ?? ''
  for (const wrong of ['', 'x', pass, `9${known.pass}`])
    assert.equal((await post(`/l/${link.slug}/open`, { ...known, pass: wrong })).details['locker'], 'stale')
  assert.equal((await post(`/locker/v1/lockers/${link.lockerId}/visits`, {})).details['locker'], 'stale')
  assert.equal((await post(`/locker/v1/lockers/${link.lockerId}/visits`, { pass: known.pass, test: true })).status, 404)
})

test('a link is opened as often as its limit says, however many open it at once', async () => {
  const link = await createLink({ click_limit: 2 })
  const [offerId = 0] = await world.createOffers({})
  const visitors = []
  for (let i = 0; i < 4; i++) visitors.push(await unlockedVisitor(link, offerId))
  const answers = await Promise.all(visitors.map((one) => post(`/l/${link.slug}/open`, one)))
  assert.deepEqual(
    answers.map(({ status }) => status).toSorted((a, b) => a - b),
    [200, 200, 400, 400],
  )
  assert.equal((await get(link.slug)).status, 410)
  const last = visitors[answers.findIndex(({ status }) => status === 200)] ?? {}
  assert.equal((await post(`/l/${link.slug}/open`, last)).status, 200, 'whoever opened it last may click twice')
  const late = visitors[answers.findIndex(({ status }) => status === 400)] ?? {}
  assert.equal((await post(`/l/${link.slug}/open`, late)).details['locker'], 'full')
})

test('an expired link is gone, and its page says so', async () => {
  const { slug } = await createLink({ expires_at: '2020-01-01' })
  const { status, body } = await get(slug)
  assert.equal(status, 410)
  assert.match(body, /has expired/)
  assert.equal((await get('no-such-link')).status, 404)
})

test('only visitors from the pages that are named may come', async () => {
  const { slug } = await createLink({ referrers: ['https://blog.example'], allows_no_referrer: false })
  assert.equal((await get(slug, { referer: 'https://blog.example/post/1' })).status, 200)
  assert.equal((await get(slug, { referer: 'https://blog.example.evil.example/' })).status, 403)
  assert.equal((await get(slug)).status, 403)
  const open = await createLink({ referrers: ['https://blog.example'] })
  assert.equal((await get(open.slug)).status, 200)
})

test('a password is asked before anything else, and cannot be guessed at speed', async () => {
  const { slug, lockerId } = await createLink({}, { password: 'open sesame' })
  const { boot } = await get(slug)
  assert.equal(boot?.needsPassword, true)
  const enter = (password: string) => post<{ pass: string }>(`/l/${slug}/password`, { password, pass: boot?.pass })
  const visit = async (pass: string) => (await post(`/locker/v1/lockers/${lockerId}/visits`, { pass })).status
  assert.equal((await enter('wrong')).status, 400)
  assert.equal(await visit(boot?.pass ?? ''), 400)
  assert.equal(await visit((await enter('open sesame')).data.pass), 200)
  const tries = []
  for (let i = 0; i < 12; i++) tries.push((await enter(`${i}`)).status)
  assert.equal(tries.at(-1), 429)
})

test('a password can be entered on the page alone, which sends no referrer itself', async () => {
  const link = { referrers: ['https://blog.example'], allows_no_referrer: false }
  const { slug } = await createLink(link, { password: 'open sesame' })
  const remoteAddress = '198.51.100.1'
  const enter = async (pass: string) => (await world.app.server.inject({ method: 'POST', url: `/l/${slug}/password`, payload: { password: 'open sesame', pass }, remoteAddress })).statusCode // prettier-ignore
  const { boot, headers } = await get(slug, { referer: 'https://blog.example/post' })
  assert.equal(headers['referrer-policy'], 'no-referrer')
  assert.equal(await enter(boot?.pass ?? ''), 200)
  const other = await get((await createLink()).slug)
  for (const wrong of ['', other.boot?.pass ?? '']) assert.equal(await enter(wrong), 400)
})

test('bots, prefetched pages and questions for headers are no views, and names of no link are not found', async () => {
  const { slug, lockerId } = await createLink()
  const head = await world.app.server.inject({ method: 'HEAD', url: `/l/${slug}`, headers: { 'user-agent': BROWSER } })
  assert.equal(head.statusCode, 200)
  await get(slug.toUpperCase())
  const { appId } = await world.createApp()
  const content = await createLocker(world.database.db, TESTER, world.config, appId, { name: 'Locker' })
  const BOT = { 'user-agent': 'Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)' }
  for (const more of [BOT, { 'sec-purpose': 'prefetch' }, { purpose: 'prefetch' }, {}])
    for (const url of [`/l/${slug}`, `/locker?locker=${content}`])
      assert.equal((await world.app.server.inject({ url, headers: { 'user-agent': BROWSER, ...more } })).statusCode, 200) // prettier-ignore
  await world.app.close()
  await world.open()
  const { rows } = await world.database.pool.query('SELECT locker_id, views FROM lockers WHERE locker_id IN ($1, $2) ORDER BY 1', [lockerId, content]) // prettier-ignore
  assert.deepEqual(rows, [{ locker_id: lockerId, views: 2 }, { locker_id: content, views: 1 }]) // prettier-ignore
  for (const wrong of ['x%00y', '..%2Fx', '%F0%9F%92%A9', 'xｙ'.normalize(), "x'--"])
    assert.equal((await get(wrong)).status, 404, wrong)
})

test('other apps see a preview, and bots nothing else', async () => {
  const link = { og_title: 'A "file"', og_text: '<b>', og_image: 'https://img.example/a.png', referrers: ['https://x.example'], allows_no_referrer: false } // prettier-ignore
  const { slug } = await createLink(link)
  const { status, body, boot } = await get(slug, { 'user-agent': 'facebookexternalhit/1.1' })
  assert.deepEqual([status, boot], [200, null])
  assert.match(body, /property="og:title" content="A &quot;file&quot;"/)
  assert.match(body, /property="og:image" content="https:\/\/img\.example\/a\.png"/)
  assert.doesNotMatch(body, /secret-4711|<b>|<script/)
})

test('targets and names that are hostile are refused', async () => {
  for (const target of [
    'javascript:alert(1)',
    'data:text/html,x',
    'ftp://x.example/',
    'file:///etc/passwd',
    '//x.example',
    'not a url',
    'http://127.0.0.1/',
    'http://0x7f.1/',
    'http://localhost/',
    'http://[::1]/',
    'http://169.254.169.254/',
    'http://10.0.0.1/',
    'http://[::ffff:10.0.0.1]/',
    'http://intranet/',
    'http://printer.local/',
    'http://nas.lan./',
    'http://router.home.arpa/',
    'http://metadata.google.internal/',
    'https://user:pw@x.example/',
    `${world.config.publicUrl}/l/other`,
    `${world.config.publicUrl.toUpperCase()}./l/x`,
  ])
    // prettier-ignore
    assert.notEqual(targetProblem(target, world.config.publicUrl), null, target)
  assert.equal(targetProblem(TARGET, world.config.publicUrl), null)
  for (const slug of [
    'admin',
    'login',
    'my-login',
    '../x',
    'a',
    'A-B-C',
    'аpple',
    'x%2fy',
    '-abc',
    'ab--cd',
    'verify-account',
    'x'.repeat(65),
  ])
    // prettier-ignore
    assert.notEqual(slugProblem(slug), null, slug)
  assert.equal(slugProblem('spring-sale-2027'), null)
  await assert.rejects(createLink({ target_url: 'javascript:alert(1)' }))
  await createLink({}, { slug: 'taken-name' })
  await assert.rejects(createLink({}, { slug: 'Taken-Name' }))
})

test('a slug without a link is refused: it would lead nowhere', async () => {
  const { appId } = await world.createApp()
  const creating = createLocker(world.database.db, TESTER, world.config, appId, { name: 'Locker', slug: 'my-album' })
  await assert.rejects(creating, (error: AppError) => /Only link lockers/.test(error.details?.['slug'] ?? ''))
})

test('reports of abuse reach the operator, a few a minute', async () => {
  const { slug, lockerId } = await createLink()
  const statuses = []
  for (let i = 0; i < 7; i++)
    statuses.push((await post(`/l/${slug}/report`, { reason: 'scam', details: 'fake' })).status)
  assert.deepEqual(statuses, [200, 200, 200, 200, 200, 429, 429])
  const reported = (await listReported(world.database.db, { limit: 50 })).links.find(
    ({ locker_id }) => locker_id === lockerId,
  )
  assert.deepEqual([reported?.reports, reported?.target_url, reported?.examples[0]?.reason], [5, TARGET, 'scam'])
})

test('a target that is hostile by now is not opened, and the unlock is not used up', async () => {
  const link = await createLink()
  const [offerId = 0] = await world.createOffers({})
  const known = await unlockedVisitor(link, offerId)
  const lead = (target: string) => world.database.pool.query("UPDATE lockers SET settings = jsonb_set(settings, '{link,target_url}', to_jsonb($1::text)) WHERE locker_id = $2", [target, link.lockerId]) // prettier-ignore
  for (const target of ['javascript:alert(1)', 'http://127.0.0.1/secret', `${world.config.publicUrl}/l/${link.slug}`]) {
    await lead(target)
    const { status, details, text } = await post(`/l/${link.slug}/open`, known)
    assert.deepEqual([status, details['locker'], text.includes(target)], [400, 'disabled', false])
  }
  await lead(TARGET)
  assert.equal((await post<{ target_url: string }>(`/l/${link.slug}/open`, known)).data.target_url, TARGET)
})

test('what is closed between the unlock and the opening stays closed, and the unlock is good once it is open again', async () => {
  const link = await createLink()
  const { db, pool } = world.database
  const { appId, lockerId, slug } = link
  const [offerId = 0] = await world.createOffers({})
  const known = await unlockedVisitor(link, offerId)
  const publisherId = await publisherOfApp(world, appId)
  const permitted = (status: 'suspended' | 'pending' | 'active') => permit(db, TESTER, publisherId, { status })
  const kind = (of: 'tracking' | 'reward') => changeRewardSettings(db, TESTER, appId, { kind: of })
  const set = (path: string, value: string) => pool.query(`UPDATE lockers SET settings = jsonb_set(settings, '${path}', '${value}') WHERE locker_id = $1`, [lockerId]) // prettier-ignore
  const open = async () => {
    await world.app.refresh()
    const [visit, opened] = [await post(`/locker/v1/lockers/${lockerId}/visits`, known), await post(`/l/${slug}/open`, known)] // prettier-ignore
    return { statuses: [visit.status, opened.status], tells: visit.text.includes(TARGET) || (opened.status !== 200 && opened.text.includes(TARGET)) } // prettier-ignore
  }
  const closings: [() => Promise<unknown>, () => Promise<unknown>][] = [
    [() => permitted('suspended'), () => permitted('active')],
    [() => permitted('pending'), () => permitted('active')],
    [() => kind('tracking'), () => kind('reward')],
    [() => set('{enabled}', 'false'), () => set('{enabled}', 'true')],
    [() => set('{link,expires_at}', '"2020-01-01T00:00:00Z"'), () => set('{link,expires_at}', 'null')],
  ]
  for (const [close, reopen] of closings) {
    await close()
    const { statuses, tells } = await open()
    assert.ok(statuses.every((status) => status >= 400) && !tells, `${String(close)} ${statuses.join()}`)
    await reopen()
  }
  assert.deepEqual(await open(), { statuses: [200, 200], tells: false })
  await revokeApp(db, TESTER, appId)
  assert.ok((await open()).statuses.every((status) => status >= 400))
})
