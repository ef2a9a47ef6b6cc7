// Confirming that it is you, and the second factor that a network requires, in a real browser.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createPerson, PASSWORD, totp } from '../people.ts'
import { becomes, checkLooks, useDashboard } from './browser.ts'

const dashboard = useDashboard('proof_e2e')

const forgetProofs = () =>
  dashboard.world.database.db
    .updateTable('sessions')
    .set({ proven_at: new Date(0) })
    .execute()

test('creating a way in asks for the password in a dialog, and then goes on', async () => {
  const { page, complaints } = await dashboard.signIn('operator', null, { at: '/account' })
  await page.getByLabel('Token name').fill('nightly job')
  await forgetProofs()
  await page.getByRole('button', { name: 'Create token' }).click()
  const dialog = page.getByRole('dialog', { name: 'Confirm that it' })
  await dialog.getByLabel('Your password').fill('not the password')
  await checkLooks(page)
  await dialog.getByRole('button', { name: 'Confirm' }).click()
  await dialog.getByText('This password is wrong.').waitFor()
  await dialog.getByLabel('Your password').fill(PASSWORD)
  await dialog.getByRole('button', { name: 'Confirm' }).click()
  await page.getByText(/^mt_/).waitFor()
  await dialog.waitFor({ state: 'hidden' })
  await page.getByRole('cell', { name: 'nightly job', exact: true }).waitFor()

  await forgetProofs()
  await page.getByLabel('Token name').fill('another')
  await page.getByRole('button', { name: 'Create token' }).click()
  await dialog.getByRole('button', { name: 'Cancel' }).click()
  await page.getByText('Confirm that it is you: enter your password again.').waitFor()
  await becomes(() => page.getByRole('cell', { name: 'another', exact: true }).count(), 0)
  assert.deepEqual(
    complaints.filter((one) => !/status of 40[03]/.test(one)),
    [],
  ) // what was refused on the way
})

test('a session that has ended is renewed in a dialog, and what was typed is not lost', async () => {
  const { page } = await dashboard.signIn('operator', null, { at: '/network/publishers' })
  await page.getByRole('button', { name: 'New publisher' }).click()
  await page.getByRole('textbox', { name: /^Name/ }).fill('Half Typed Media')
  const me = await page.request.get(`${dashboard.url}/manage/v1/me`)
  const { data } = (await me.json()) as { data: { id: string } }
  await dashboard.world.database.db.deleteFrom('sessions').where('person_id', '=', data.id).execute()
  await page.getByRole('dialog').getByRole('button', { name: /publisher/ }).click() // prettier-ignore
  const dialog = page.getByRole('dialog', { name: 'Sign in again' })
  await dialog.getByLabel('Your password').fill('not the password')
  await checkLooks(page)
  await dialog.getByRole('button', { name: 'Sign in' }).click()
  await dialog.getByText('The email address or the password is wrong.').waitFor()
  await dialog.getByLabel('Your password').fill(PASSWORD)
  await dialog.getByRole('button', { name: 'Sign in' }).click()
  await page.getByRole('heading', { name: 'Half Typed Media' }).waitFor()
  await dialog.waitFor({ state: 'hidden' })
})

test('what a person typed stays when the server cannot be reached, and is sent once it can', async () => {
  const { page } = await dashboard.signIn('operator', null, { at: '/network/publishers' })
  await page.getByRole('button', { name: 'New publisher' }).click()
  await page.getByRole('textbox', { name: /^Name/ }).fill('Offline Media')
  await page.context().setOffline(true)
  const send = page.getByRole('dialog').getByRole('button', { name: /publisher/ })
  await send.click()
  await page.getByText('The server did not respond.').waitFor()
  await page.context().setOffline(false)
  await send.click()
  await page.getByRole('heading', { name: 'Offline Media' }).waitFor()
})

test('an operator of a network that requires a second factor sees nothing but its setup', async () => {
  const { world } = dashboard
  const email = 'rosa@example.com'
  await createPerson(world, 'operator', null, { name: 'Rosa', email })
  const port = Number(new URL(dashboard.url).port)
  await world.app.close()
  world.app = await world.start({ require2fa: true })
  await world.app.server.listen({ host: '127.0.0.1', port })
  const { page } = await dashboard.open()
  await page.goto(`${dashboard.url}/network/people`)
  await page.getByLabel('Email address').fill(email)
  await page.getByRole('textbox', { name: 'Password' }).fill(PASSWORD)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByRole('heading', { name: 'Set up two-factor sign-in' }).waitFor()
  await becomes(() => page.getByRole('link', { name: 'Ledger' }).count(), 0)
  await checkLooks(page)
  await page.getByLabel('Your password').fill(PASSWORD)
  await page.getByRole('button', { name: 'Enable' }).click()
  const secret = (await page.locator('code').filter({ hasText: /^[A-Z2-7]{16,}$/ }).textContent()) ?? '' // prettier-ignore
  await checkLooks(page)
  await page.getByLabel('3. Enter the code').fill(totp(secret))
  await page.getByRole('button', { name: 'Enable' }).click()
  await page.getByRole('cell', { name: email }).waitFor()
})
