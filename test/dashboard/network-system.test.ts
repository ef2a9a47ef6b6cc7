// The operator's view of the program in a real browser: audit log, system, postback health.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { recordAuditAlone } from '../../src/features/accounts/audit.ts'
import { PIXEL } from '../images.ts'
import { before, HOUR, createLane, putAttempt, putPostbacks, readLane } from '../postback-world.ts'
import { SECRET_KEY } from '../world.ts'
import { becomes, checkLooks, explains, pick, useDashboard } from './browser.ts'

let failing: number
const dashboard = useDashboard('network_system_e2e', async (world) => {
  const { db } = world.database
  failing = await createLane(world, { failures: 3, failing_since: before(HOUR) })
  await putPostbacks(db, failing, 2, {
    attempts: 1,
    dueAt: before(HOUR),
    lastError: 'The server answered 500, not 2xx.',
  })
  const [delivered = ''] = await putPostbacks(db, failing, 6, { state: 'delivered', attempts: 1 })
  await putAttempt(db, delivered, { duration_ms: 1_234 })
  const well = await createLane(world)
  await putPostbacks(db, well, 3, { state: 'delivered', attempts: 1 })
  const app = await world.createApp()
  const { locker_id } = await db
    .insertInto('lockers')
    .values({ app_id: app.appId, kind: 'link', slug: 'full', settings: JSON.stringify({ name: 'Full article' }) })
    .returning('locker_id')
    .executeTakeFirstOrThrow()
  const settings = { title: 'Old title', counts_pending: false, categories: ['app'], link: { og_text: '' } }
  await recordAuditAlone(
    db,
    { id: null, email: 'lara@example.com', ip: null, requestId: 'req_1' },
    { action: 'locker.change', subject: locker_id, details: { before: settings, after: { ...settings, title: 'New title', link: { og_text: 'Card' } } } }, // prettier-ignore
  )
  for (let i = 0; i < 60; i++)
    await recordAuditAlone(
      db,
      { id: null, email: i % 2 === 0 ? 'ann@example.com' : 'bob@example.com', ip: '192.0.2.1' },
      { action: i === 0 ? 'offer.create' : 'offer.change', subject: i, details: { name: `Offer ${i}`, caps: { daily: null }, countries: ['US', 'DE'] } }, // prettier-ignore
    )
})

test('the audit log is filtered by actor and action, in the URL, and paged', async () => {
  const { page, complaints } = await dashboard.signIn('operator')
  await page.getByRole('link', { name: 'Audit log' }).click()
  await page.getByText('Name: Offer 59').waitFor()
  await page.getByText('Countries: US, DE').first().waitFor()
  await checkLooks(page)
  await page.getByRole('button', { name: 'Next' }).click()
  await page.getByText('Name: Offer 0').waitFor()
  await page.getByLabel('Actor').fill('ann@example.com')
  await page.getByLabel('Action').fill('offer.cr')
  await page.waitForURL(/action=offer\.cr/)
  await page.getByRole('row').nth(2).waitFor({ state: 'detached' })
  await page.getByText('Name: Offer 0').waitFor()
  await page.reload()
  await becomes(() => page.getByLabel('Action').inputValue(), 'offer.cr')
  await page.getByLabel('Target').fill('nothing')
  await page.getByText('No entries match').waitFor()
  await page.getByRole('button', { name: 'Clear filters' }).click()
  await page.getByText('Name: Offer 59').waitFor()
  await becomes(() => page.getByLabel('Action').inputValue(), '')
  await page.getByLabel('Action').fill('session.start')
  await page.waitForURL(/action=session\.start/)
  await page.getByText('offer.change').first().waitFor({ state: 'detached' })
  await page.getByRole('cell', { name: 'Bea Browser' }).getByRole('link', { name: 'Bea Browser' }).first().click()
  await page.getByRole('heading', { name: 'People' }).waitFor()
  assert.deepEqual(complaints, [])
})

test('what an audit entry was about has its name, and what changed has the labels of the pages', async () => {
  const { page, complaints } = await dashboard.signIn('operator', null, { at: '/network/audit?action=locker' })
  const row = page.getByRole('row').filter({ hasText: 'locker.change' })
  await row.getByText('Title: Old title → New title').waitFor()
  await row.getByText('Card text: none → Card').waitFor()
  await row.getByText('Request ID: req_1').waitFor()
  assert.equal(await row.getByText('Pending conversions count').count(), 0) // it did not change
  await row.getByRole('link', { name: 'Full article' }).click()
  await page.waitForURL(/\/apps\/\d+\/lockers\/\d+/)
  assert.deepEqual(complaints, [])
})

test('the system page shows what it runs on and what waits, and no secret', async () => {
  const { page, complaints } = await dashboard.signIn('operator_reader')
  await page.getByRole('link', { name: 'System' }).click()
  await page.getByText(process.versions.node).waitFor()
  await page.getByText('postback attempts').waitFor()
  await page.getByRole('row', { name: 'SECRET_KEY' }).getByRole('cell', { name: 'set', exact: true }).waitFor()
  await page.getByText('Postbacks are overdue.').waitFor() // nobody works on this database
  assert.equal((await page.content()).includes(SECRET_KEY), false)
  await checkLooks(page)
  assert.deepEqual(complaints, [])
})

test('the logo an operator uploads is in the header and on the sign-in page, until it is removed', async () => {
  const { page, complaints } = await dashboard.signIn('operator')
  await page.getByRole('link', { name: 'System' }).click()
  const choose = page.locator('input[type=file]')
  await page.getByText('No logo is set.').waitFor()
  await choose.setInputFiles({ name: 'logo.svg', mimeType: 'image/svg+xml', buffer: Buffer.from('<svg/>') })
  await page.getByRole('alert').getByText('Use a PNG, JPEG, WebP or GIF image.').waitFor()
  await choose.setInputFiles({ name: 'logo.png', mimeType: 'image/png', buffer: PIXEL })
  await page.getByRole('link', { name: 'Home' }).waitFor()
  await page.getByRole('img', { name: 'Current logo' }).waitFor()
  await checkLooks(page)
  const stranger = await dashboard.open()
  await stranger.page.goto(`${dashboard.url}/sign-in`)
  await becomes(() => stranger.page.evaluate("document.querySelector('img.logo')?.naturalWidth"), 1)
  await page.getByRole('button', { name: 'Remove logo' }).click()
  await page.getByRole('dialog', { name: 'Remove the logo?' }).getByRole('button', { name: 'Remove' }).click()
  await page.getByRole('link', { name: 'Offerdeck' }).waitFor()
  await page.getByText('No logo is set.').waitFor()
  assert.deepEqual(
    [...complaints, ...stranger.complaints].filter((one) => !/400/.test(one)),
    [],
  )
})

test('an operator sees whose postbacks fail, holds them back and lets them go again', async () => {
  const { page, complaints } = await dashboard.signIn('operator')
  await page.getByRole('link', { name: 'Postback health' }).click()
  const row = page.getByRole('row').filter({ hasText: 'The server answered 500' })
  await row.getByText('75%').waitFor()
  await row.getByText('6 of 8').waitFor()
  await explains(page, page.getByText('Delivered, 24 h').first(), 'Retries of a postback count once')
  await row.getByText('1,234 ms').waitFor()
  await row.getByText('Failing', { exact: true }).waitFor()
  await checkLooks(page)
  await row.getByRole('button', { name: /^Pause/ }).click()
  await page.getByRole('button', { name: 'Pause postbacks' }).click()
  await row.getByRole('button', { name: /^Resume/ }).waitFor()
  assert.equal((await readLane(dashboard.world.database.db, failing)).pause_reason, 'operator')
  await page.getByRole('combobox', { name: 'Status' }).click()
  await pick(page.getByRole('option', { name: /^paused \(1\)$/i }))
  await page.getByRole('row').nth(2).waitFor({ state: 'detached' })
  await row.getByRole('button', { name: /^Resume/ }).click()
  await page.getByText('No app matches').waitFor()
  assert.equal((await readLane(dashboard.world.database.db, failing)).paused_at, null)
  assert.deepEqual(complaints, [])
})
