// A user's page: all that is known of them as a file, and that it is erased.
import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { test } from 'node:test'
import { listErasures } from '../../src/features/users/erasures.ts'
import { publisherOfApp } from '../people.ts'
import { checkPage, useDashboard } from './browser.ts'

const dashboard = useDashboard('personal_data_e2e')
const { world } = dashboard
const USER = 'ann/ä %2F?&#'

test('an owner exports a user, and erases them after a question', async () => {
  const { appId, live } = await world.createApp()
  const [offerId = 0] = await world.createOffers({})
  await world.click(offerId, live, `userId=${encodeURIComponent(USER)}&aff_sub=mail`)
  const publisherId = await publisherOfApp(world, appId)
  const at = `/apps/${appId}/users?user=${encodeURIComponent(USER)}`
  const { page, complaints } = await dashboard.signIn('publisher_owner', publisherId, { at })
  const downloaded = page.waitForEvent('download')
  await page.getByRole('button', { name: 'Export data' }).click()
  const lines = (await readFile(await (await downloaded).path(), 'utf8')).trimEnd().split('\n')
  assert.equal((JSON.parse(lines[0] ?? '') as { user_id: string }).user_id, USER)
  assert.ok(lines.length > 3)
  await page.getByRole('button', { name: 'Erase user' }).click()
  await page.getByText('A user who returns is treated as new.').waitFor()
  await page.getByRole('dialog').getByRole('button', { name: 'Erase user' }).click()
  await page.getByText('This user is being erased').waitFor()
  await page.getByRole('button', { name: 'Erase user' }).waitFor({ state: 'hidden' })
  await checkPage(page)
  assert.equal((await listErasures(world.database.db, appId, undefined, 10)).length, 1)
  assert.deepEqual(complaints, [])
})

test('those who may only look see neither button', async () => {
  const { appId, live } = await world.createApp()
  const [offerId = 0] = await world.createOffers({})
  await world.click(offerId, live, 'userId=bob')
  const { page } = await dashboard.signIn('publisher_viewer', await publisherOfApp(world, appId), {
    at: `/apps/${appId}/users?user=bob`,
  })
  await page.getByText('Latest clicks').waitFor()
  assert.equal(await page.getByRole('button', { name: /Erase user|Export data/ }).count(), 0)
})
