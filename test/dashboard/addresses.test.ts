// Addresses in a real browser: email addresses, which are verified and invited, and those of pages and their tabs.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { createPublisher } from '../../src/features/accounts/publishers.ts'
import { MailServer } from '../mail-server.ts'
import { createPerson, publisherOfApp } from '../people.ts'
import { becomes, checkLooks, go, useDashboard } from './browser.ts'
import { TESTER } from '../tester.ts'

const mails = await new MailServer().open()
after(() => mails.close())

let publisherId: number
const dashboard = useDashboard('addresses_e2e', async ({ database: { db } }) => {
  publisherId = (await createPublisher(db, TESTER, 'Games Ltd')).publisher_id
})
dashboard.world.config = { ...dashboard.world.config, smtpUrl: mails.url }

const linkIn = (text: string) => /http:\S+/.exec(text)?.[0] ?? ''

test('an email address is verified by the emailed link, once, and the account page shows it', async () => {
  const { page, complaints } = await dashboard.signIn('publisher_owner', publisherId, { at: '/account' })
  await page.getByText('Not verified').waitFor()
  await page.getByRole('button', { name: 'Verify' }).click()
  await page.getByText(/We sent a link to/).waitFor()
  const { email } = await dashboard.world.database.db.selectFrom('people').select('email').executeTakeFirstOrThrow()
  const link = linkIn(await mails.take(email, /Verify/))
  await page.goto(link)
  await page.getByText('Email address verified').waitFor()
  await checkLooks(page)
  await go(page, '/account')
  await page.getByText('Verified', { exact: true }).waitFor()
  assert.equal(await page.getByRole('button', { name: 'Verify' }).count(), 0)
  assert.deepEqual(complaints, [])
  const { page: later } = await dashboard.open()
  await later.goto(link)
  await later.getByText('This link does not work').waitFor()
})

test('an invitation warns of an account that gives way, and stops at one that does not', async () => {
  const { db } = dashboard.world.database
  const elsewhere = (await createPublisher(db, TESTER, 'Elsewhere')).publisher_id
  for (const email of ['unproven@example.com', 'proven@example.com'])
    await createPerson(dashboard.world, 'publisher_viewer', elsewhere, { name: 'Una', email })
  await db.updateTable('people').set({ email_verified: true }).where('email', '=', 'proven@example.com').execute()
  const { page } = await dashboard.signIn('publisher_owner', publisherId)
  const open = async (email: string) => {
    const { status } = await page.evaluate(
      async ([path = '', body]) => {
        const answer = await fetch(path, { method: 'POST', headers: { 'content-type': 'application/json' }, body: body ?? '' }) // prettier-ignore
        return { status: answer.status }
      },
      [`/manage/v1/publishers/${publisherId}/invitations`, JSON.stringify({ email, role: 'publisher_viewer' })],
    )
    assert.equal(status, 200)
    const { page: invited } = await dashboard.open()
    await invited.goto(linkIn(await mails.take(email, /invited/)))
    return invited
  }
  const warned = await open('unproven@example.com')
  await warned.getByText(/its address was never verified. Accepting closes that account/).waitFor()
  await checkLooks(warned)
  const stopped = await open('proven@example.com')
  await stopped.getByText('This address already has an account').waitFor()
  assert.equal(await stopped.getByRole('textbox').count(), 0)
  const welcome = await open('new@example.com')
  await welcome.getByRole('textbox', { name: 'Password' }).waitFor()
  assert.equal(await welcome.getByText(/Accepting closes/).count(), 0)
})

test('the person who invited sees that the mail was refused, and sends it again', async () => {
  const { page, complaints } = await dashboard.signIn('publisher_owner', publisherId)
  mails.answer = (command) => (command.startsWith('RCPT TO') ? '550 no such mailbox' : null)
  await go(page, `/publishers/${publisherId}/people`)
  await page.getByRole('button', { name: /^Invite/ }).first().click() // prettier-ignore
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Email address').fill('full@example.com')
  await dialog.getByRole('button', { name: /invitation$/ }).click()
  await dialog.getByRole('status').waitFor()
  await page.keyboard.press('Escape')
  await page.getByText('The mail server rejected this address.').waitFor()
  await checkLooks(page)
  mails.answer = () => null
  await page.getByRole('button', { name: 'Resend the invitation to full@example.com' }).click()
  assert.match(linkIn(await mails.take('full@example.com', /invited/)), /\/join#inv_/)
  await page.getByText('The mail server rejected this address.').waitFor({ state: 'detached' })
  assert.deepEqual(complaints, [])
})

test('a page of an app says whose it is and where it stands, and each part of that leads there', async () => {
  const { world } = dashboard
  const { appId } = await world.createApp()
  const owner = await publisherOfApp(world, appId)
  const { name } = await world.database.db.selectFrom('publishers').select('name').where('publisher_id', '=', owner).executeTakeFirstOrThrow() // prettier-ignore
  const { page, complaints } = await dashboard.signIn('operator', null, { at: `/apps/${appId}/conversions` })
  const trail = page.getByRole('navigation', { name: 'Breadcrumb' })
  await becomes(
    async () => (await trail.innerText()).replaceAll(/\s+/g, ' '),
    `Publishers / ${name} / App / Conversions`,
  )
  await trail.getByRole('link', { name: 'App', exact: true }).click()
  await page.waitForURL(new RegExp(`/apps/${appId}$`))
  await trail.getByRole('link', { name }).click()
  await page.waitForURL(new RegExp(`/network/publishers/${owner}$`))
  assert.deepEqual(complaints, [])
})

test('a tab is in the address: reloading the page or sharing its link opens the same one', async () => {
  const { world } = dashboard
  const { appId } = await world.createApp()
  const { page, complaints } = await dashboard.signIn('operator', null, { at: `/apps/${appId}/offers` })
  await page.getByRole('tab', { name: 'Content rules' }).click()
  await page.waitForURL(/\?tab=rules/)
  await page.reload()
  await page.getByRole('tab', { name: 'Content rules', selected: true }).waitFor()
  assert.deepEqual(complaints, [])
})
