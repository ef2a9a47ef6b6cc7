// Signing up in a real browser: from the operator's settings to a publisher that was refused, approved, and asked for new
// terms.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { MailServer } from '../mail-server.ts'
import { PASSWORD } from '../people.ts'
import { changeSignUp, TERMS } from '../sign-ups.ts'
import { becomes, checkLooks, go, pick, useDashboard } from './browser.ts'

let mails: MailServer
before(async () => {
  mails = await new MailServer().open()
  dashboard.world.config = { ...dashboard.world.config, smtpUrl: mails.url }
})
const dashboard = useDashboard('sign_up_e2e')
after(() => mails.close())

test('a publisher signs up as the operator asks, tests, is refused, approved, and accepts new terms', async () => {
  const operator = await dashboard.signIn('operator', null, { at: '/network/applications' })
  const { page } = operator
  await page.getByText('No applications are waiting').waitFor()
  await page.getByRole('link', { name: 'Sign-up settings' }).click()
  await page.getByLabel('Publishers can sign up').check()
  await page.getByLabel('Introduction').fill('We work with sites of any size.')
  await page.getByText('Text', { exact: true }).click()
  await page.getByRole('textbox', { name: 'Version' }).fill('1')
  await page.getByLabel('Text of the terms').fill('Be fair.')
  await page.getByRole('button', { name: 'Add question' }).click()
  await page.getByLabel('Label').fill('Where are your users?')
  await page.getByRole('combobox', { name: 'Kind' }).click()
  await pick(page.getByRole('option', { name: 'Choice' }))
  const choices = page.getByRole('combobox', { name: 'Choices' })
  for (const choice of ['Europe', 'America']) {
    await choices.fill(choice)
    await choices.press('Enter')
  }
  await page.getByLabel('Required', { exact: true }).check()
  const preview = page.getByRole('group', { name: 'Preview of the form' })
  await preview.getByText('We work with sites of any size.').waitFor()
  await preview.getByText('Where are your users?').waitFor()
  await checkLooks(page)
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByText('Saved, effective immediately.').waitFor()

  const visitor = await dashboard.open()
  const door = visitor.page
  await door.goto(`${dashboard.url}/sign-in`)
  await door.getByRole('link', { name: 'New publisher? Sign up' }).click()
  await door.getByLabel('Your name').fill('Ada')
  await door.getByLabel('Email address').fill('ada@example.com')
  await door.getByRole('textbox', { name: 'Password' }).fill(PASSWORD)
  await door.getByLabel('Company').fill('Acme Rewards')
  await door.getByRole('button', { name: 'Sign up' }).click()
  await becomes(() => door.getByText('Required.').count(), 3)
  await checkLooks(door)
  await door.getByLabel('Website').fill('https://acme.example.com')
  await door.getByRole('combobox', { name: 'Where are your users?' }).click()
  await pick(door.getByRole('option', { name: 'Europe' }))
  await door.getByLabel('I accept the terms, version 1').check()
  await door.getByRole('button', { name: 'Sign up' }).click()
  await door.getByRole('heading', { name: 'Check your email' }).waitFor()
  await door.getByText('ada@example.com').waitFor()
  await checkLooks(door)

  const text = await mails.take('ada@example.com', /Finish signing up/)
  await door.goto(/http\S+\/sign-up\/verify#\S+/.exec(text)?.[0] ?? '')
  await door.getByText('signing up as Acme Rewards').waitFor()
  await checkLooks(door)
  await door.getByRole('textbox', { name: 'Password' }).fill('of another person')
  await door.getByRole('button', { name: 'Finish' }).click()
  await door.getByText('not the password that you chose').waitFor()
  await door.getByRole('textbox', { name: 'Password' }).fill(PASSWORD)
  visitor.complaints.length = 0 // the password that was refused
  await door.getByRole('button', { name: 'Finish' }).click()
  await door.getByText('Your account is awaiting approval').waitFor()
  await door.getByText('Create your first app').waitFor()
  await checkLooks(door)
  await door.getByRole('link', { name: 'People' }).click()
  await door.getByText('You can invite members once the operator has approved your account.').waitFor()
  assert.equal(await door.getByRole('button', { name: 'Invite member' }).count(), 0)
  await go(door, '/')

  await page.goto(`${dashboard.url}/network`)
  await page.getByText('publisher is waiting for review').waitFor()
  await page.getByRole('link', { name: 'Applications 1' }).click()
  await page.getByRole('cell', { name: 'ada@example.com' }).waitFor()
  await checkLooks(page)
  await page.getByRole('link', { name: 'Acme Rewards' }).click()
  await page.getByText('Europe').waitFor()
  await checkLooks(page)
  await page.getByRole('button', { name: 'Refuse' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Reason').fill('The website does not load.')
  await dialog.getByRole('button', { name: 'Refuse' }).click()
  await page.getByText('Refused. The applicant gets an email.').waitFor()
  await page.getByRole('link', { name: 'Applications', exact: true }).first().waitFor()

  await door.reload()
  await door.getByText('The website does not load.').waitFor()
  await checkLooks(door)
  await page.getByRole('button', { name: 'Approve' }).click()
  await page.getByText('Approved. The live keys work').waitFor()
  await door.reload()
  await door.getByText('Create your first app').waitFor()
  await becomes(() => door.getByText('Your application was refused').count(), 0)

  await changeSignUp(dashboard.world.database.db, { terms: { ...TERMS, version: '2' }, is_open: false })
  await door.reload()
  await door.getByRole('heading', { name: 'The terms have changed' }).waitFor()
  await checkLooks(door)
  const accepted = door.getByLabel('I accept the terms, version 2')
  await accepted.check()
  await changeSignUp(dashboard.world.database.db, { terms: { ...TERMS, version: '2', text: 'Be kind.' } })
  await door.getByRole('button', { name: 'Continue' }).click()
  await door.getByText('have changed since this page was loaded').waitFor()
  await door.getByText('Be kind.').waitFor()
  assert.equal(await accepted.isChecked(), false, 'what is shown now was not accepted')
  visitor.complaints.length = 0 // the terms that had changed
  await accepted.check()
  await door.getByRole('button', { name: 'Continue' }).click()
  await door.getByText('Create your first app').waitFor()
  await go(door, '/sign-up')
  await door.getByText('does not accept sign-ups').waitFor()
  await checkLooks(door)
  assert.deepEqual([operator.complaints, visitor.complaints], [[], []])
})
