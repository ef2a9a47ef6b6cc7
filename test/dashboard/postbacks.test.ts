// An app's postbacks as a publisher sees them: the URL, test sends, the log, resending.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { after, test } from 'node:test'
import { buildWorker, type Worker } from '../../src/worker.ts'
import { DEFAULTS, saveSettings } from '../../src/features/postbacks/settings.ts'
import { type Language, secretNameOf, writeReceiver } from '../../web/dashboard/src/parts/postbacks/receiver-code.ts'
import { until } from '../installation.ts'
import { publisherOfApp } from '../people.ts'
import { createLane, NOW, putEvents, putPostbacks } from '../postback-world.ts'
import { answer, type Receiver, startReceiver } from '../receiver.ts'
import { SECRET_KEY } from '../world.ts'
import { becomes, checkLooks, go, pick, useDashboard } from './browser.ts'
import { TESTER } from '../tester.ts'

let worker: Worker
let receiver: Receiver
after(async () => {
  await worker.close()
  await receiver.close()
})
const dashboard = useDashboard('e2e_postbacks', async (world) => {
  receiver = await startReceiver(answer(200, {}, 'OK'))
  worker = await buildWorker({ config: world.config, secretKey: SECRET_KEY, database: world.database, log: world.log })
})
const { world } = dashboard
world.config = { ...world.config, postbackAllow: ['127.0.0.0/8'] }

/** The page is fine in both colors and on a phone. */
test('a publisher sets a URL with macros, tests it, and reads every attempt in the log', async () => {
  const { appId } = await world.createApp()
  const { page, complaints } = await dashboard.signIn('publisher_owner', await publisherOfApp(world, appId), {
    at: `/apps/${appId}/postbacks`,
  })
  await page.getByText('This app has no postback URL').waitFor()
  await page.getByText('No postbacks yet').waitFor()
  await page.getByRole('link', { name: 'Settings and tests' }).click()

  const address = page.getByRole('textbox', { name: 'Postback URL' })
  await address.fill(`http://127.0.0.1:${receiver.port}/cb?u=`)
  await address.press('End')
  await address.pressSequentially('{us')
  await page.getByRole('option', { name: '{user_id}' }).waitFor()
  await address.press('Enter')
  await becomes(() => address.inputValue(), `http://127.0.0.1:${receiver.port}/cb?u={user_id}`)
  await page.getByText('Test postbacks look like live ones').waitFor() // a warning
  await address.pressSequentially('&s={stat')
  await page.getByRole('option', { name: '{status_reason}' }).waitFor()
  await address.press('ArrowDown')
  await address.press('ArrowUp')
  await address.press('Enter')
  await page.getByText('/cb?u=user-1&s=approved').waitFor() // the real thing, as one types
  await address.pressSequentially('&x={nothing}')
  await page.getByText('This cannot be saved').waitFor()
  await becomes(() => page.getByRole('button', { name: 'Save', exact: true }).isDisabled(), true)
  for (let i = 0; i < '&x={nothing}'.length; i++) await address.press('Backspace')
  await page.getByText('This cannot be saved').waitFor({ state: 'hidden' })
  await page.getByRole('button', { name: 'Add header' }).click()
  await page.getByLabel('Name', { exact: true }).fill('X-Token')
  await page.getByLabel('Value', { exact: true }).fill('my secret')
  await page.getByRole('button', { name: 'Save', exact: true }).click()
  await page.getByText('Saved.').waitFor()
  await until(async () => (await page.getByLabel('Value', { exact: true }).inputValue()) === '')

  const { name: appName } = await world.database.db.selectFrom('apps').select('name').where('app_id', '=', appId).executeTakeFirstOrThrow() // prettier-ignore
  const saved = { method: 'GET', url: await address.inputValue(), secretName: secretNameOf(appName) } as const
  await page.getByText(`export ${saved.secretName}='LIVE_SIGNING_SECRET TEST_SIGNING_SECRET'`).waitFor()
  for (const [language, file] of Object.entries({
    Node: 'node.mjs',
    PHP: 'php.php',
    Python: 'python.py',
    Go: 'go.go',
  })) {
    await page.getByRole('tab', { name: language }).click()
    const verify = readFileSync(new URL(`../../examples/verify-postback/${file}`, import.meta.url), 'utf8')
    const shown = await page.getByRole('tabpanel', { name: language }).locator('pre').textContent()
    assert.equal(shown, writeReceiver(language as Language, verify, saved)) // which receiver-code.test.ts runs
  }
  await page.reload() // the language is remembered
  await page.getByRole('tab', { name: 'Go', selected: true }).waitFor()

  await page.getByRole('button', { name: 'Run tests' }).click()
  await page.getByText('5 of 6 passed').waitFor()
  await page.getByText('Saved.').waitFor({ state: 'hidden' })
  assert.match(receiver.requests[0]?.head ?? '', /x-token: my secret/i)
  await checkLooks(page)

  await page.getByRole('navigation', { name: 'Breadcrumb' }).getByRole('link', { name: 'Postbacks' }).click()
  await page
    .getByRole('link', { name: /^Open postback/ })
    .first()
    .waitFor()
  await checkLooks(page)
  await page
    .getByRole('link', { name: /^Open postback/ })
    .first()
    .click()
  await page.getByText(`GET http://127.0.0.1:${receiver.port}/cb?u=user-1`).waitFor()
  await page.getByText('x-token: ********').waitFor()
  await checkLooks(page)
  const before = receiver.requests.length
  await page.waitForURL(/\/postbacks\?(.*&)?postback=/)
  await page.getByRole('button', { name: 'Resend', exact: true }).click()
  await page.getByText('Attempt 2').waitFor()
  assert.equal(receiver.requests.length, before + 1)
  await page.goBack()
  await page.getByText('Attempt 2').waitFor({ state: 'hidden' })
  const row = page.getByRole('row').filter({ hasText: 'test: approved' }).first()
  for (const text of ['Castle Quest', 'user-1', /\d+ \w+/, 'Approved', 'Delivered']) await row.getByText(text).first().waitFor() // prettier-ignore
  await row.getByText('user-1').click() // anywhere on the row
  await page.waitForURL(/postback=/)
  assert.deepEqual(complaints, [])
})

test('a site with a receiver for another network picks its style, enters the secret, and tests it', async () => {
  const { appId } = await world.createApp()
  const { page, complaints } = await dashboard.signIn('publisher_owner', await publisherOfApp(world, appId), {
    at: `/apps/${appId}/postbacks/settings`,
  })
  const address = page.getByRole('textbox', { name: 'Postback URL' })
  await address.fill(`http://127.0.0.1:${receiver.port}/old.php?site=3`)
  await page.getByRole('combobox', { name: 'Receiver', exact: true }).click()
  await pick(page.getByRole('option', { name: 'Wannads style' }))
  await becomes(async () => (await address.inputValue()).startsWith(`http://127.0.0.1:${receiver.port}/old.php?site=3&subId={user_id}&`), true) // prettier-ignore
  await page.getByText('MD5 is a weak signature').waitFor()
  await page.getByText(/^ ?site = 3\nsubId = user-1\ntransId = /m).waitFor() // as the server reads it
  await page.getByText(/^user-1[\w-]+example-secret$/).waitFor()
  const signed = page.getByRole('textbox', { name: 'Signed text' })
  await signed.fill('{user_id}{transaction_id}{reward}')
  await page.getByText('without it, anyone could sign').waitFor()
  await signed.press('End')
  await signed.pressSequentially('{sec')
  await page.getByRole('option', { name: '{secret}' }).waitFor()
  await signed.press('Enter')
  await page.getByText('without it, anyone could sign').waitFor({ state: 'hidden' })
  const save = page.getByRole('button', { name: 'Save', exact: true })
  await save.click()
  await page.getByText('Enter the secret that your server checks signatures with.').waitFor()
  await page.getByLabel('Receiver’s secret').fill('of the old site')
  await save.click()
  await page.getByText('Saved.').waitFor()
  await checkLooks(page)
  await page.getByText('Your server checks the signature of its dialect.').waitFor()
  await page.getByRole('button', { name: 'Run tests' }).click()
  await page.getByText('4 of 5 passed').waitFor() // it answers OK to a wrong signature, too; pending is not sent
  const sent = receiver.requests.filter(({ head }) => head.includes('/old.php'))
  assert.match(sent[0]?.head ?? '', /^GET \/old\.php\?site=3&subId=user-1&.*&status=1&.*&signature=[0-9a-f]{32} /)
  await page.reload()
  await becomes(() => page.getByLabel('Word for reversed').inputValue(), '2')
  await becomes(() => page.getByLabel('Receiver’s secret').inputValue(), '')
  await page.getByText('DUP', { exact: true }).waitFor() // an expected answer
  await page.getByRole('combobox', { name: 'Receiver', exact: true }).click()
  await pick(page.getByRole('option', { name: 'Written for Offerdeck' }))
  await signed.waitFor({ state: 'hidden' })
  assert.deepEqual(complaints.filter((one) => !one.includes('400')), []) // prettier-ignore
})

test('the log is live and filtered in its URL; a paused lane is resumed; many are resent', async () => {
  const appId = await createLane(world, { paused_at: NOW, pause_reason: 'failing' })
  const { db } = world.database
  await saveSettings(db, TESTER, SECRET_KEY, appId, { ...DEFAULTS, url: `http://127.0.0.1:${receiver.port}/{status}` })
  await db.updateTable('postback_lanes').set({ paused_at: NOW, pause_reason: 'failing' }).where('app_id', '=', appId).execute() // prettier-ignore
  const { page, complaints } = await dashboard.signIn('publisher_developer', await publisherOfApp(world, appId), {
    at: `/apps/${appId}/postbacks?state=dead`,
  })
  await page.getByText('Postbacks are paused').waitFor()
  await page.getByText('No postback matches').waitFor()
  await putPostbacks(db, appId, 25, { state: 'dead' })
  await page
    .getByRole('link', { name: /^Open postback/ })
    .nth(19)
    .waitFor() // automatically
  await page.getByRole('button', { name: 'Next' }).click()
  await page
    .getByRole('link', { name: /^Open postback/ })
    .nth(5)
    .waitFor({ state: 'hidden' })
  await becomes(() => page.getByRole('link', { name: /^Open postback/ }).count(), 5)
  await checkLooks(page)
  await page.getByRole('button', { name: 'Resend in bulk' }).click()
  await page.getByRole('button', { name: 'Resend 25' }).click()
  await page.getByText('0 of 25 sent').waitFor()
  await page.getByRole('button', { name: 'Stop', exact: true }).click()
  await page.getByText('Unsent postbacks are unchanged.').first().waitFor()
  await page.getByRole('button', { name: 'Resume' }).click()
  await page.getByText('Postbacks are paused').waitFor({ state: 'hidden' })
  await page.getByRole('combobox', { name: 'Event' }).click()
  await pick(page.getByRole('option', { name: 'reversed' }))
  await page.waitForURL(/status=reversed/)
  await page.getByText('No postback matches').waitFor()
  await page.getByRole('button', { name: 'Clear filters' }).click()
  await page
    .getByRole('link', { name: /^Open postback/ })
    .first()
    .waitFor()
  assert.deepEqual(complaints, [])
})

test('sending again what a later event has overtaken warns that the older status may win, and what to do', async () => {
  const { appId } = await world.createApp()
  const { db } = world.database
  const url = `http://127.0.0.1:${receiver.port}/?s={status}&q={sequence}`
  await saveSettings(db, TESTER, SECRET_KEY, appId, { ...DEFAULTS, url })
  const events = [
    { status: 'approved', state: 'dead' },
    { status: 'reversed', state: 'delivered' },
  ] as const
  const [approved, reversed] = await putEvents(db, appId, ...events)
  const { page, complaints } = await dashboard.signIn('publisher_owner', await publisherOfApp(world, appId), {
    at: `/apps/${appId}/postbacks/${approved}`,
  })
  await page.getByRole('button', { name: 'Resend' }).click()
  const warning = page.getByRole('alert').filter({ hasText: 'Resent, but it is not the latest' })
  await warning.waitFor()
  const text = await warning.innerText()
  assert.match(text, /A later event of this conversion \(reversed\) was already delivered/)
  assert.match(text, /orders events by sequence, the older status wins: resend the later postback, too/)
  await checkLooks(page)
  await go(page, `/apps/${appId}/postbacks/${reversed}`)
  await page.getByRole('button', { name: 'Resend' }).click()
  await page.getByText('Resent.').first().waitFor()
  assert.equal(await warning.count(), 0, 'the latest needs no warning')
  assert.deepEqual(complaints, [])
})

test('who may only read sees the settings and the log, and no buttons that change something', async () => {
  const appId = await createLane(world)
  await putPostbacks(world.database.db, appId, 1, { state: 'dead' })
  const { page, complaints } = await dashboard.signIn('operator_reader', null, {
    at: `/apps/${appId}/postbacks/settings`,
  })
  await page.getByText('Request preview').waitFor()
  await becomes(() => page.getByRole('textbox', { name: 'Postback URL' }).isDisabled(), true)
  await becomes(() => page.getByRole('button', { name: /Save|Remove URL|Run tests/ }).count(), 0)
  await go(page, `/apps/${appId}/postbacks`)
  await page.getByRole('link', { name: /^Open postback/ }).click()
  await page.getByText('Summary').waitFor()
  await becomes(() => page.getByRole('button', { name: /send/i }).count(), 0)
  await go(page, `/apps/${appId}/postbacks/no-such-one`)
  await page.getByText('No postback of this app has this ID.').waitFor()
  assert.deepEqual(complaints.filter((one) => !one.includes('404')), []) // prettier-ignore
})
