// The door in a real browser: from the set-up link to a team of people with second factors, and what it says to those
// it does not let in.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import { inviteFirstOperator } from '../../src/features/accounts/invitations.ts'
import { createPublisher } from '../../src/features/accounts/publishers.ts'
import { createResetLink } from '../../src/features/accounts/reset-links.ts'
import { createPerson, PASSWORD, totp } from '../people.ts'
import { SECRET_KEY } from '../world.ts'
import { becomes, checkLooks, go, pick, useDashboard } from './browser.ts'
import { TESTER } from '../tester.ts'

let setUpToken: string
let publisherId: number
const dashboard = useDashboard('door_e2e', async ({ database: { db } }) => {
  setUpToken = (await inviteFirstOperator(db, SECRET_KEY, new Date())) ?? ''
  publisherId = (await createPublisher(db, TESTER, 'Games Ltd')).publisher_id
})
// Every browser has its own IP address: guessing from one is slow, and so would be this test.
dashboard.world.config = { ...dashboard.world.config, trustProxy: ['127.0.0.1/32'] }

let count = 1

/** A fresh browser, with all its requests and responses. */
async function open(path: string) {
  const { page, complaints } = await dashboard.open()
  const urls: string[] = []
  const documents: Promise<string>[] = []
  page.on('request', (request) => urls.push(request.url(), request.headers()['referer'] ?? ''))
  page.on('response', (response) => {
    if (response.request().resourceType() === 'document') documents.push(response.text().catch(() => ''))
  })
  await page.setExtraHTTPHeaders({ 'x-forwarded-for': `203.0.113.${count++}` })
  await page.goto(dashboard.url + path)
  /** No secret was in a URL that the server saw, nor in a page as it came. */
  const keepsToItself = async (secrets: string[]) => {
    const seen = [...urls.map((url) => url.replace(/#.*/, '')), ...(await Promise.all(documents))].join('\n')
    for (const secret of secrets) {
      assert.ok(secret.length > 5)
      assert.equal(seen.includes(secret), false, 'a secret went where it should not')
    }
  }
  return { page, complaints, keepsToItself }
}

async function join(page: Page, { name, email }: { name: string; email?: string }): Promise<void> {
  await page.getByLabel('Your name').fill(name)
  if (email !== undefined) await page.getByLabel('Email address').fill(email)
  await page.getByRole('textbox', { name: 'Password' }).fill(PASSWORD)
  await page.getByRole('button', { name: 'Create account' }).click()
  await page.waitForURL((address) => address.pathname !== '/join')
}

async function signIn(page: Page, email: string, password = PASSWORD): Promise<void> {
  await page.getByLabel('Email address').fill(email)
  await page.getByRole('textbox', { name: 'Password' }).fill(password)
  await page.getByRole('button', { name: 'Sign in' }).click()
}

/** Invites by the page of people, in the dialog that is returned. */
async function inviteBy(page: Page, email: string, role: string) {
  await page.getByRole('button', { name: 'Invite member' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Email address').fill(email)
  await dialog.getByRole('combobox', { name: 'Role' }).click()
  await pick(page.getByRole('option', { name: role }))
  await dialog.getByRole('button', { name: 'Send invitation' }).click()
  return dialog
}

/** As an operator, where no mail is sent: returns the path of the link. */
async function linkBy(page: Page, email: string, role: string): Promise<string> {
  const dialog = await inviteBy(page, email, role)
  const link = (await dialog.getByText('/join#').textContent()) ?? ''
  await page.keyboard.press('Escape')
  await dialog.waitFor({ state: 'hidden' })
  return link.replace(dashboard.url, '')
}

test('the operator comes in by the set-up link, a publisher’s people by links that the operator hands over', async () => {
  const operator = await open(`/join#${setUpToken}`)
  await operator.page.getByText('You will run this network').waitFor()
  await checkLooks(operator.page)
  await join(operator.page, { name: 'Olga', email: 'olga@example.com' })
  await go(operator.page, '/network/people')
  await operator.page.getByRole('cell', { name: 'olga@example.com' }).waitFor()
  await checkLooks(operator.page)

  // The role that the dialog begins with waits for the people, however slowly they come.
  const slow = Promise.withResolvers<void>()
  await operator.page.route('**/manage/v1/publishers/*/people', async (route) => slow.promise.then(() => route.continue()), { times: 1 }) // prettier-ignore
  await go(operator.page, `/publishers/${publisherId}/people`)
  await operator.page.getByRole('button', { name: 'Invite member' }).click()
  await operator.page.getByRole('dialog').getByRole('status', { name: 'Loading' }).waitFor()
  slow.resolve()
  await operator.page.getByText('Can do everything, including inviting members.').waitFor() // while there is no owner
  await operator.page.keyboard.press('Escape')
  const forOwner = await linkBy(operator.page, 'Owen@Example.com', 'Owner')
  await operator.page.getByText('owen@example.com · Owner').waitFor()
  await checkLooks(operator.page)

  const owner = await open(forOwner)
  await owner.page.getByText('As an owner you can do everything.').waitFor()
  await becomes(() => owner.page.getByLabel('Email address').inputValue(), 'owen@example.com')
  await join(owner.page, { name: 'Owen' })
  await go(owner.page, `/publishers/${publisherId}/people`)
  const asked = await inviteBy(owner.page, 'mia@example.com', 'Developer')
  await asked.getByText('Ask the operator for the link.').waitFor()
  await becomes(() => asked.getByText('/join#').count(), 0)
  await checkLooks(owner.page)
  await operator.page.reload()
  const forMember = await linkBy(operator.page, 'mia@example.com', 'Developer')

  const member = await open(forMember)
  await join(member.page, { name: 'Mia' })
  await go(member.page, `/publishers/${publisherId}/people`)
  await member.page.getByRole('cell', { name: 'owen@example.com' }).waitFor()
  await becomes(() => member.page.getByRole('button', { name: 'Invite member' }).count(), 0)

  await owner.page.reload()
  const role = owner.page.getByRole('combobox', { name: 'Role of Mia' })
  for (const [answer, then] of [
    ['Cancel', 'Developer'],
    ['Change role', 'Viewer'],
  ] as const) {
    // prettier-ignore
    await role.click()
    await owner.page.getByRole('option', { name: 'Viewer' }).click()
    await owner.page.getByText('Change Mia’s role to Viewer?').waitFor()
    await owner.page.getByRole('dialog').getByRole('button', { name: answer }).click()
    await becomes(() => role.inputValue(), then)
  }
  await owner.page.getByRole('row', { name: 'Mia' }).getByRole('button', { name: 'Disable' }).click()
  await owner.page.getByText('signed out everywhere immediately').waitFor()
  await owner.page.getByRole('dialog').getByRole('button', { name: 'Disable' }).click()
  await owner.page.getByRole('row', { name: 'Mia' }).getByRole('button', { name: 'Enable' }).waitFor()
  await member.page.reload()
  await member.page.getByRole('heading', { name: 'Sign in' }).waitFor()

  const late = await open(`/join#${setUpToken}`)
  await late.page.getByText('Ask for a new invitation').waitFor()
  await checkLooks(late.page)
  const secrets = [setUpToken, PASSWORD, ...[forOwner, forMember].map((path) => path.split('#')[1] ?? '')]
  for (const visitor of [operator, owner, member, late]) await visitor.keepsToItself(secrets)
})

test('a second factor is asked for once it is on, and a backup code does in its place, once', async () => {
  const { world } = dashboard
  const email = 'tina@example.com'
  await createPerson(world, 'operator', null, { name: 'Tina', email })
  const { page, complaints, keepsToItself } = await open('/account')
  await page.getByRole('heading', { name: 'Sign in' }).waitFor()
  await checkLooks(page)
  await signIn(page, email)
  await page.getByRole('heading', { name: 'Your account' }).waitFor() // where they wanted to go
  complaints.length = 0
  await page.getByLabel('Your password').fill(PASSWORD)
  await page.getByRole('button', { name: 'Enable' }).click()
  const secret = (await page.locator('code').filter({ hasText: /^[A-Z2-7]{16,}$/ }).textContent()) ?? '' // prettier-ignore
  const codes = ((await page.locator('pre').textContent()) ?? '').trim().split('\n')
  assert.equal(codes.length, 10)
  await checkLooks(page)
  await page.getByLabel('3. Enter the code').fill(totp(secret))
  await page.getByRole('button', { name: 'Enable' }).click()
  await page.getByText('Two-factor sign-in is on.').waitFor()
  assert.deepEqual(complaints, [])

  const other = await open('/sign-in')
  await signIn(other.page, email)
  await other.page.getByRole('heading', { name: 'Enter your code' }).waitFor()
  await checkLooks(other.page)
  await other.page.getByLabel('Code').fill('000000')
  await other.page.getByRole('button', { name: 'Continue' }).click()
  await other.page.getByText('This code is wrong or was already used. Enter the next one.').waitFor()
  await other.page.getByLabel('Code').fill(totp(secret, Date.now() + 30_000)) // each is good once
  await other.page.getByRole('button', { name: 'Continue' }).click()
  await other.page.getByText('Tina').waitFor()

  const [backup = ''] = codes
  for (const isFresh of [true, false]) {
    const third = await open('/sign-in')
    await signIn(third.page, email)
    await third.page.getByLabel('Code').fill(backup)
    await third.page.getByRole('button', { name: 'Continue' }).click()
    await third.page.getByText(isFresh ? 'Tina' : 'was already used').waitFor()
    await third.keepsToItself([PASSWORD, backup])
    await third.page.context().close()
  }
  await keepsToItself([PASSWORD, secret, ...codes])
})

test('sessions are seen and ended, tokens created and revoked, and signing out is the end', async () => {
  const { world } = dashboard
  const email = 'sam@example.com'
  await createPerson(world, 'operator', null, { name: 'Sam', email })
  const [here, there] = [await open('/sign-in?then=/account'), await open('/sign-in?then=/account')]
  for (const { page } of [there, here]) {
    await signIn(page, email)
    await page.getByRole('heading', { name: 'Your account' }).waitFor()
  }
  await here.page.getByRole('button', { name: 'Sign out' }).click()
  await here.page.getByText('Session signed out.').waitFor()
  await there.page.reload()
  await there.page.getByRole('heading', { name: 'Sign in' }).waitFor()

  await here.page.getByLabel('Token name').fill('nightly job')
  await here.page.getByRole('button', { name: 'Create token' }).click()
  const token = (await here.page.getByText(/^mt_/).textContent()) ?? ''
  const ask = () => fetch(`${dashboard.url}/manage/v1/me`, { headers: { authorization: `Bearer ${token}` } })
  assert.equal((await ask()).status, 200)
  await checkLooks(here.page)
  await here.page.reload()
  await here.page.getByRole('cell', { name: 'nightly job', exact: true }).waitFor()
  await becomes(() => here.page.getByText(/^mt_/).count(), 0, 'shown once')
  await here.page.getByRole('button', { name: 'Revoke nightly job' }).click()
  await here.page.getByRole('dialog').getByRole('button', { name: 'Revoke token' }).click()
  await here.page.getByText('Token revoked.').waitFor()
  assert.equal((await ask()).status, 401)

  const cookies = await here.page.context().cookies()
  const session = cookies.find(({ name }) => name.includes('session_token'))
  assert.equal(session?.httpOnly, true)
  assert.equal(await here.page.evaluate('document.cookie'), '')
  await here.keepsToItself([token, PASSWORD, decodeURIComponent(session?.value ?? '').split('.')[0] ?? ''])
  await here.page.getByRole('button', { name: 'Your account' }).click()
  await here.page.getByRole('menuitem', { name: 'Sign out' }).click()
  await here.page.getByRole('heading', { name: 'Sign in' }).waitFor()
  await go(here.page, '/account')
  await here.page.getByRole('heading', { name: 'Sign in' }).waitFor()
})

test('a person who is not let in reads what to do: a wrong password, a forgotten one, a reset link used or not', async () => {
  const { world } = dashboard
  const email = 'rita@example.com'
  const person = await createPerson(world, 'operator', null, { name: 'Rita', email })
  const { page, keepsToItself } = await open('/sign-in')
  await signIn(page, email, 'not her password')
  await page.getByText('The email address or the password is wrong.').waitFor()
  await checkLooks(page)
  assert.equal(await page.getByRole('link', { name: 'Try it as a user' }).count(), 0, 'there is no demo here')
  await page.getByRole('link', { name: 'Forgot password?' }).click()
  await page.getByRole('heading', { name: 'Reset your password' }).waitFor()
  await checkLooks(page)
  await page.getByLabel('Email address').fill(email)
  await page.getByRole('button', { name: 'Send reset link' }).click()
  await page.getByText('Ask the operator for a reset link.').waitFor()
  await checkLooks(page)

  const link = await createResetLink(
    world.database.db,
    SECRET_KEY,
    { publicUrl: dashboard.url, personId: person.id },
    new Date(),
  )
  const other = 'another good password'
  const reset = await open(link.replace(dashboard.url, ''))
  await reset.page.getByRole('textbox', { name: 'New password' }).fill(other)
  await checkLooks(reset.page)
  await reset.page.getByRole('button', { name: 'Set password' }).click()
  await reset.page.getByText('You were signed out everywhere.').waitFor()
  assert.equal(new URL(reset.page.url()).hash, '')
  await reset.page.getByRole('link', { name: 'Sign in' }).click()
  await signIn(reset.page, email, other)
  await reset.page.getByText('Rita').waitFor()

  const late = await open(link.replace(dashboard.url, ''))
  await late.page.getByRole('textbox', { name: 'New password' }).fill('a third good password')
  await late.page.getByRole('button', { name: 'Set password' }).click()
  await late.page.getByText('Request a new one').waitFor()
  await checkLooks(late.page)
  for (const visitor of [{ keepsToItself }, reset, late])
    await visitor.keepsToItself([PASSWORD, other, link.split('#')[1] ?? ''])
})
