// Content and link lockers as a publisher sets them up, and links that visitors reported as an operator sees them.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { changeLocker, createLocker, findLocker } from '../../src/features/lockers/lockers.ts'
import type { LockerInput } from '../../src/features/lockers/schema.ts'
import { reportLocker } from '../../src/features/lockers/reports.ts'
import { until } from '../installation.ts'
import { publisherOfApp } from '../people.ts'
import { TESTER } from '../tester.ts'
import { becomes, checkLooks, go, PHONE, pick, useDashboard } from './browser.ts'

/** In the page. */
declare const getComputedStyle: (one: unknown) => { backgroundColor: string }

const dashboard = useDashboard('lockers_e2e')
const { world } = dashboard

test('a publisher creates both kinds of lockers and changes them', async () => {
  const { appId } = await world.createApp({ currency: 'Gems' })
  const publisherId = await publisherOfApp(world, appId)
  const { page, complaints } = await dashboard.signIn('publisher_owner', publisherId, { at: `/apps/${appId}/lockers` })
  await page.getByText('No lockers yet').waitFor()
  await page.getByRole('link', { name: 'New locker' }).click()
  await page.getByRole('button', { name: 'Create locker' }).click()
  await page.getByText('Required.').waitFor()
  await page.getByLabel('Name').fill('Bonus chapter')
  await page.getByRole('radio', { name: 'offers worth a reward in Gems' }).click()
  await page.getByLabel('Reward, Gems').fill('0')
  await page.getByRole('button', { name: 'Create locker' }).click()
  await page.getByText('Enter an amount above 0.').waitFor()
  await page.getByLabel('Reward, Gems').fill('12.5')
  await page.getByLabel('Stays unlocked for').fill('36')
  await page.getByRole('combobox', { name: 'Unit' }).click()
  await pick(page.getByRole('option', { name: 'hours' }))
  await page.getByRole('button', { name: 'Create locker' }).click()
  await page.getByRole('heading', { name: 'Bonus chapter', level: 1 }).waitFor()
  await page.getByText('<offer-locker locker="').waitFor()
  await checkLooks(page)
  const [content] = await settingsOf(appId)
  assert.deepEqual(
    [content?.needed_reward, content?.needed_offers, content?.unlocked_minutes, content?.link],
    [12.5, null, 2_160, null],
  )

  await go(page, `/apps/${appId}/lockers/new`)
  await page.getByRole('radio', { name: 'Link locker' }).click()
  await page.getByLabel('Name').fill('Secret map')
  await page.getByLabel('Destination URL').fill('http://127.0.0.1/map')
  await page.getByLabel('Slug').fill('secret-map')
  await page.getByRole('switch', { name: 'Ask for a password' }).click()
  await page.locator('input[type=password]').fill('swordfish')
  await page.getByLabel('Click limit').fill('many')
  await page.getByRole('button', { name: 'Create locker' }).click()
  await page.getByText('Enter a whole number from 1 to 1,000,000,000.').waitFor()
  await page.getByLabel('Click limit').fill('5')
  await page.getByRole('button', { name: 'Create locker' }).click()
  const target = page.getByLabel('Destination URL')
  await page.locator('[data-path="link.target_url"][aria-invalid=true]').waitFor()
  await target.fill('https://maps.example.com/secret')
  await page.getByRole('button', { name: 'Create locker' }).click()
  await page.getByRole('link', { name: 'Open the link' }).waitFor()
  await page.getByLabel('Title', { exact: true }).fill('The secret map')
  await save()
  const [, link] = await settingsOf(appId)
  assert.deepEqual([link?.title, link?.link?.click_limit], ['The secret map', 5])
  const { password_hash } = await lockerOf('secret-map')
  assert.notEqual(password_hash, null, 'a change of the title keeps the password')
  // What is typed while it is being saved stays, and is still to be saved.
  const held = Promise.withResolvers<void>()
  const lockers = '**/manage/v1/apps/*/lockers/*'
  await page.route(lockers, async (route) => {
    if (route.request().method() === 'GET') await held.promise
    await route.continue()
  })
  await page.getByLabel('Name').fill('Map of the isle')
  await save()
  await page.getByLabel('Name').fill('Secret map')
  await page.getByRole('switch', { name: 'Ask for a password' }).click()
  held.resolve()
  await save()
  assert.equal((await settingsOf(appId))[1]?.name, 'Secret map')
  assert.equal((await lockerOf('secret-map')).password_hash, null)
  await checkLooks(page)
  // Another person sets a password meanwhile: what is saved here does not remove it.
  const { locker_id, settings } = await lockerOf('secret-map')
  const input = { ...(settings as LockerInput), password: 'marlin' }
  await changeLocker(world.database.db, TESTER, world.config, { appId, lockerId: locker_id }, input)
  await page.getByLabel('Title', { exact: true }).fill('Map')
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByText('Someone else changed this locker.').waitFor()
  await until(() => page.getByRole('switch', { name: 'Ask for a password' }).isChecked())
  await save()
  const { password_hash: kept, settings: last } = await lockerOf('secret-map')
  assert.deepEqual([kept !== null, (last as LockerInput).title], [true, 'Map'])

  await page.getByRole('link', { name: 'Lockers' }).first().click()
  await page.getByRole('table', { name: 'Lockers' }).getByRole('link', { name: 'Secret map' }).waitFor()
  await page.getByText('12.5 Gems').waitFor()
  await checkLooks(page)
  assert.deepEqual(complaints.map((one) => /status of (\d+)/.exec(one)?.[1]), ['400', '409'], 'what was refused alone') // prettier-ignore
  await page.context().close()

  async function save() {
    const saved = page.waitForResponse((response) => response.request().method() === 'PUT')
    await page.getByRole('button', { name: 'Save' }).click()
    assert.equal((await saved).status(), 200)
  }
})

test('a publisher gives a locker a look of its own, is told what is hard to read, and takes it back', async () => {
  const { appId } = await world.createApp()
  const publisherId = await publisherOfApp(world, appId)
  const lockerId = await createLocker(world.database.db, TESTER, world.config, appId, { name: 'Dark', look: { font: 'mono' } }) // prettier-ignore
  const { page, complaints } = await dashboard.signIn('publisher_owner', publisherId, { at: `/apps/${appId}/lockers/${lockerId}` }) // prettier-ignore
  const light = page.getByRole('group', { name: 'Light colors' })
  const ownLook = page.getByRole('switch', { name: 'Custom appearance' })
  const save = async () => {
    const saved = page.waitForResponse((response) => response.request().method() === 'PUT')
    await page.getByRole('button', { name: 'Save' }).click()
    assert.equal((await saved).status(), 200)
    return (await settingsOf(appId))[0]?.look
  }
  assert.equal(await light.getByLabel('Background').inputValue(), '#f4f6f9', 'as the wall')
  await light.getByLabel('Accent').fill('#ffee88')
  await light.getByText('Hard to read').waitFor()
  await light.getByLabel('Accent').fill('#8a6d00')
  await light.getByText('Hard to read').waitFor({ state: 'detached' })
  await page.getByLabel('Corner radius').fill('25')
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByText('Enter a whole number from 0 to 24.').waitFor()
  await page.getByLabel('Corner radius').fill('2')
  const start = page.getByRole('figure', { name: 'Light colors' }).getByText('Start')
  await becomes(() => start.evaluate((one) => getComputedStyle(one).backgroundColor), 'rgb(138, 109, 0)')
  assert.deepEqual(await save(), { font: 'mono', radius: 2, light: { accent: '#8a6d00' } }, 'the rest follows the wall')
  await page.getByRole('combobox', { name: 'Theme' }).click()
  await pick(page.getByRole('option', { name: 'Dark' }))
  assert.equal(await page.getByRole('figure').count(), 1)
  await checkLooks(page)
  await ownLook.click()
  assert.equal(await save(), null)
  assert.equal(await light.count(), 0)
  assert.deepEqual(complaints, [])
})

test('an operator takes a reported link down, and its publisher reads why', async () => {
  const { appId } = await world.createApp()
  const publisherId = await publisherOfApp(world, appId)
  const { page, complaints } = await dashboard.signIn('operator', null, {
    at: '/network/reported-links',
    viewport: PHONE,
  })
  await page.getByText('No reports').waitFor()
  const created = await page.request.post(`${dashboard.url}/manage/v1/apps/${appId}/lockers`, {
    data: { name: 'Free coins', slug: 'free-coins', link: { target_url: 'https://scam.example.com/' } },
    headers: { origin: dashboard.url },
  })
  assert.equal(created.status(), 200)
  const { locker_id } = await lockerOf('free-coins')
  const { db } = world.database
  const locker = (await findLocker(db, { lockerId: locker_id }))!
  await reportLocker(db, locker, { reason: 'scam', details: 'It asks for my card.' })
  await changeLocker(db, TESTER, world.config, { appId, lockerId: locker_id }, { name: 'Free coins', link: { target_url: 'https://harmless.example.com/' } }) // prettier-ignore
  await page.reload()
  await page.getByText('Scam: It asks for my card. (when it led to https://scam.example.com/)').waitFor()
  await page.getByText('Reported: https://scam.example.com/').waitFor()
  await checkLooks(page)
  await page.getByRole('button', { name: 'Take down Free coins' }).click()
  await page.getByLabel('Reason').fill('It asks for credit cards.')
  await page.getByRole('button', { name: 'Take down', exact: true }).click()
  await page.getByText('It asks for credit cards.').waitFor()
  assert.notEqual((await lockerOf('free-coins')).taken_down_at, null)

  const publisher = await dashboard.signIn('publisher_viewer', publisherId, {
    at: `/apps/${appId}/lockers/${locker_id}`,
  })
  await publisher.page.getByText('It asks for credit cards.').waitFor()
  assert.equal(await publisher.page.getByRole('button', { name: 'Save' }).count(), 0)
  await checkLooks(publisher.page)
  assert.deepEqual(publisher.complaints, [])
  await publisher.page.context().close()

  await page.getByRole('button', { name: 'Restore Free coins' }).click()
  await page.getByText('No reports').waitFor()
  assert.equal((await lockerOf('free-coins')).taken_down_at, null)
  assert.deepEqual(complaints, [])
})

const lockerOf = (slug: string) =>
  world.database.db.selectFrom('lockers').selectAll().where('slug', '=', slug).executeTakeFirstOrThrow()

type Stored = {
  name: string
  look: LockerInput['look']
  title: string
  needed_reward: number | null
  needed_offers: number | null
  unlocked_minutes: number
  link: { click_limit: number | null } | null
}

async function settingsOf(appId: number): Promise<Stored[]> {
  const rows = await world.database.db.selectFrom('lockers').select('settings').where('app_id', '=', appId).orderBy('locker_id').execute() // prettier-ignore
  return rows.map(({ settings }) => settings as Stored)
}
