// Lockers at the command line.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { failsWith, useOperator } from '../../test/operator.ts'
import type { Locker } from '../features/lockers/schema.ts'
import { findLocker } from '../features/lockers/lockers.ts'
import { reportLocker } from '../features/lockers/reports.ts'

const { home, world, createApp } = useOperator({ worker: false })

type Shown = Locker & { app_id: number }

const create = async (...options: string[]) => {
  const { app_id } = await createApp()
  await world.app.refresh()
  return home.json<Shown>('locker', 'create', '--app', String(app_id), ...options)
}

test('a content locker is created with defaults, changed a setting at a time, shown and listed', async () => {
  const made = await create('--name', 'Chapter two', '--category', 'survey', '--category', 'video')
  assert.deepEqual([made.kind, made.url, made.settings.needed_offers, made.settings.unlocked_minutes, made.unlocks], ['content', null, 1, 1440, 0]) // prettier-ignore
  assert.deepEqual(made.settings.categories, ['survey', 'video'])
  const id = String(made.locker_id)
  const set = async (...options: string[]) => (await home.json<Shown>('locker', 'set', id, ...options)).settings
  const first = await set('--needed-reward', '2.5', '--counts-pending', '--min-payout', '0.5', '--category', 'none')
  assert.deepEqual([first.needed_reward, first.needed_offers, first.counts_pending, first.min_payout, first.categories], [2.5, null, true, 0.5, []]) // prettier-ignore
  const second = await set('--title', 'Read on', '--no-counts-pending', '--min-payout', 'none', '--no-enabled')
  assert.deepEqual([second.title, second.counts_pending, second.min_payout, second.enabled, second.needed_reward], ['Read on', false, null, false, 2.5]) // prettier-ignore
  const third = await set('--needed-offers', '3')
  assert.deepEqual([third.needed_offers, third.needed_reward, third.title], [3, null, 'Read on'])
  const shown = await home.run(['locker', 'show', 'Chapter two'])
  assert.match(shown.out, /^locker_id +\d+\nname +Chapter two\nstatus +disabled\n/)
  assert.match(shown.out, /\nneeded_offers +3\n/)
  const listed = await home.json<Shown[]>('locker', 'list', '--app', String(made.app_id))
  assert.deepEqual(listed.map(({ locker_id }) => locker_id), [made.locker_id]) // prettier-ignore
  assert.match((await home.run(['locker', 'list'])).out, /Chapter two +content +disabled/)
})

test('a locker is given a look of its own, a color at a time, and the look of its wall again', async () => {
  const made = await create('--name', 'Dark chapter', '--theme', 'dark', '--dark-accent', '#ffcc00')
  assert.deepEqual(made.settings.look, { theme: 'dark', dark: { accent: '#ffcc00' } })
  const id = String(made.locker_id)
  const set = async (...options: string[]) => (await home.json<Shown>('locker', 'set', id, ...options)).settings.look
  const second = await set('--dark-card', '#000000', '--radius', '0', '--font', 'serif')
  assert.deepEqual(second, { theme: 'dark', dark: { accent: '#ffcc00', card: '#000000' }, radius: 0, font: 'serif' })
  assert.deepEqual(await set('--title', 'Read on'), second)
  assert.match((await home.run(['locker', 'show', id])).out, /\ndark_accent +#ffcc00\n/)
  const third = { dark: { card: '#000000' }, radius: 0, font: 'serif' }
  assert.deepEqual(await set('--dark-accent', 'none', '--theme', 'none'), third)
  assert.deepEqual(await set('--no-look', '--font', 'mono'), { font: 'mono' })
  assert.equal(await set('--font', 'none'), null)
  failsWith(await home.run(['locker', 'set', id, '--light-text', 'blue', '--radius', '99']), /(?=.*--light-text )(?=.*--radius )/s, 2) // prettier-ignore
})

test('a link locker has a URL that is kept, a password, and settings of its own', async () => {
  const made = await create('--name', 'Album', '--target-url', 'https://files.example.com/a', '--slug', 'the-album', '--password', 'open sesame', '--referrer', 'https://blog.example') // prettier-ignore
  assert.equal(made.url, `${world.config.publicUrl}/l/the-album`)
  assert.deepEqual([made.has_password, made.settings.link?.referrers], [true, ['https://blog.example']])
  const set = (...options: string[]) => home.json<Shown>('locker', 'set', 'the-album', ...options)
  const limited = await set('--click-limit', '5', '--expires-at', '2099-01-01', '--no-allows-no-referrer')
  assert.deepEqual([limited.settings.link?.click_limit, limited.settings.link?.expires_at, limited.settings.link?.allows_no_referrer, limited.has_password], [5, '2099-01-01', false, true]) // prettier-ignore
  assert.equal(limited.settings.link?.target_url, 'https://files.example.com/a')
  const open = await set('--password', 'none', '--click-limit', 'none')
  assert.deepEqual([open.has_password, open.settings.link?.click_limit, open.settings.link?.expires_at], [false, null, '2099-01-01']) // prettier-ignore
  assert.match((await home.run(['locker', 'show', String(made.locker_id)])).out, /\ntarget_url +https:/)
})

test('what is wrong is said by the names of options, all at once, with status 2', async () => {
  const { app_id, locker_id } = await create('--name', 'Plain')
  const run = (...args: string[]) => home.run(['locker', ...args])
  const id = String(locker_id)
  failsWith(await run('set', id, '--needed-offers', 'many', '--title', 'x'.repeat(81), '--category', 'chess'), /(?=.*--needed-offers must be .*"none")(?=.*--title must have at most 80 characters)(?=.*--category must be one of)/s, 2) // prettier-ignore
  failsWith(await run('set', id, '--needed-offers', '1', '--needed-reward', '1'), /Give --needed-offers or --needed-reward, not both/, 2) // prettier-ignore
  failsWith(await run('set', id, '--click-limit', '5'), /--click-limit is for link lockers only\.$/m, 2)
  const creation = ['create', '--app', String(app_id), '--name', 'Bad']
  failsWith(await run(...creation, '--og-title', 'x'), /--og-title is for link lockers only: add --target-url/, 2)
  failsWith(await run(...creation, '--target-url', 'http://10.0.0.1/'), /--target-url: The URL must be one that everyone can reach/, 2) // prettier-ignore
  failsWith(await run(...creation, '--target-url', 'https://x.example/', '--slug', 'admin'), /--slug: This name is reserved/, 2) // prettier-ignore
  failsWith(await run(...creation, '--password', 'x'), /--password: Only link lockers/, 2)
  failsWith(await run('create', '--name', 'Bad'), /--app .*is required/, 2)
  failsWith(await run('show', 'Nowhere'), /There is no locker "Nowhere"\. List lockers with: npx offerdeck locker list/)
  await home.json('locker', 'create', '--app', String(app_id), '--name', 'Plain')
  failsWith(await run('show', 'Plain'), /names more than one locker\. Use one of: id:\d+/, 2)
})

test('a link that was reported is taken down after a question, and restored', async () => {
  const { locker_id } = await create('--name', 'Phish', '--target-url', 'https://x.example/', '--slug', 'reported-link')
  const id = String(locker_id)
  const { db } = world.database
  await reportLocker(db, (await findLocker(db, { lockerId: locker_id }))!, { reason: 'scam' })
  const reported = async () => (await home.json<{ locker_id: number; reports: number; last_report_id: number }[]>('locker', 'list', '--reported')).find((one) => one.locker_id === locker_id) // prettier-ignore
  assert.equal((await reported())?.reports, 1)
  const status = async () => (await world.app.server.inject('/l/reported-link')).statusCode
  failsWith(await home.run(['locker', 'take-down', id, '--reason', 'phishing']), /down: visitors can no longer open it\. Nothing was done: add --yes/, 2) // prettier-ignore
  assert.equal(await status(), 200)
  failsWith(await home.run(['locker', 'take-down', id, '--reason', ' ', '--yes']), /Enter a reason/)
  await home.run(['locker', 'take-down', id, '--reason', 'phishing', '--yes'])
  assert.equal(await status(), 410)
  assert.equal((await reported())?.reports, 1)
  await home.run(['locker', 'take-down', id, '--reason', 'phishing', '--seen-report', String((await reported())?.last_report_id), '--yes']) // prettier-ignore
  assert.equal((await reported())?.reports, 0)
  assert.equal((await home.json<Shown>('locker', 'show', id)).taken_down_reason, 'phishing')
  assert.match((await home.run(['locker', 'restore', id])).out, /is restored/)
  assert.equal(await status(), 200)
  assert.equal(await reported(), undefined)
})

test('of two who change different settings at once, neither undoes the other’s', async () => {
  const { locker_id } = await create('--name', 'Shared')
  await Promise.all([
    home.json('locker', 'set', String(locker_id), '--title', 'One'),
    home.json('locker', 'set', String(locker_id), '--text', 'Two'),
  ])
  const { settings } = await home.json<Shown>('locker', 'show', String(locker_id))
  assert.deepEqual([settings.title, settings.text], ['One', 'Two'])
})
