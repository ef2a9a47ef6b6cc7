// The operator's offers in a real browser: creating, changing, pausing, copying and importing them.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import { createAdvertiser } from '../../src/features/accounts/advertisers.ts'
import { showOffer } from '../../src/features/offers/offers.ts'
import { asCsv } from '../offer-files.ts'
import { SECRET_KEY } from '../world.ts'
import { addClicks } from '../seed-rows.ts'
import { becomes, checkLooks, checkPage, go, PHONE, pick, useDashboard } from './browser.ts'
import { testLooks } from '../tier.ts'
import { TESTER } from '../tester.ts'

const ADVERTISER = 'Lanternfield Games'
const ROW = { advertiser: ADVERTISER, category: 'game', payout: '2', destination_url: 'https://ads.example.com/?c={click_id}' } // prettier-ignore

let offerId = 0
const dashboard = useDashboard('e2e_offers', async (world) => {
  await createAdvertiser(world.database.db, TESTER, SECRET_KEY, ADVERTISER)
  const goals = [{ name: 'Install', payout: 0.5, revenue: 1 }, { name: 'Level 9', payout: 3 }] // prettier-ignore
  ;[offerId = 0] = await world.createOffers({
    name: 'Castle of Mirrors',
    payout: undefined,
    goals,
    image_url: '/pictures/game-1.svg',
    time_estimate: '3 days',
    countries: ['US', 'DE'],
    total_click_cap: 10,
  })
})

const heading = (page: Page, name: string) => page.getByRole('heading', { name, exact: true })

test('an operator creates an offer: problems are shown at their fields, the preview follows, and the offer is there', async () => {
  const { page, complaints } = await dashboard.signIn('operator')
  await page.getByRole('link', { name: 'Offers', exact: true }).click()
  await page.getByRole('link', { name: 'New offer' }).click()
  await page.getByRole('combobox', { name: 'Advertiser' }).click()
  await pick(page.getByRole('option', { name: ADVERTISER }))
  await page.getByRole('textbox', { name: 'External ID', exact: true }).fill('dragons-1')
  await page.getByRole('textbox', { name: 'Name', exact: true }).fill('Dragons at dawn')
  await page.getByLabel('Time estimate').fill('10 minutes')
  await page.getByLabel('Payout, USD').first().fill('1.23456')
  const preview = page.getByTestId('preview')
  await preview.getByText('Dragons at dawn').waitFor()
  await preview.getByText('10 minutes').waitFor()

  await page.getByRole('button', { name: 'Create offer' }).click()
  await page.getByText('Required.', { exact: true }).waitFor()
  assert.equal(await page.getByLabel('Destination').getAttribute('aria-invalid'), 'true')
  await page.getByText('Payout must be an amount of dollars with at most 4 decimals.', { exact: true }).waitFor()
  assert.equal(await page.getByLabel('Payout, USD').first().getAttribute('aria-invalid'), 'true')
  complaints.length = 0 // a refused request is reported as an error, too

  const ends = page.getByLabel(/^Ends/)
  await ends.press('1')
  await page.getByRole('button', { name: 'Create offer' }).click()
  await page.getByText('Enter a complete date and time.').waitFor()
  const { y = 0 } = (await ends.boundingBox()) ?? {}
  assert.ok(y > 56, 'below the header')
  await ends.fill('')

  await page.getByLabel('Payout, USD').first().fill('1.25')
  await preview.getByText('1,250 Coins').waitFor()
  const above = page.getByText('The payout is above the revenue: you lose money on every conversion.')
  await page.getByLabel('Revenue, USD').first().fill('1.2')
  await above.waitFor()
  await page.getByLabel('Revenue, USD').first().fill('1.25')
  await above.waitFor({ state: 'detached' })
  await page.getByLabel('Payout, %').first().fill('50')
  await page.getByLabel('Revenue, %').first().fill('40')
  await above.waitFor()
  await page.getByLabel('Revenue, %').first().fill('')
  await page.getByLabel('Payout, %').first().fill('')
  await above.waitFor({ state: 'detached' })
  await page.getByLabel('Destination').fill('https://ads.example.com/?c={click_id}')
  await page.getByRole('combobox', { name: 'Countries' }).fill('Germ')
  await pick(page.getByRole('option', { name: 'Germany (DE)' }))
  assert.equal(await page.getByLabel('Boost').inputValue(), '1')
  await page.getByLabel('Boost').fill('2.5')
  await page.getByLabel('Pinned position').fill('3')
  await page.getByRole('button', { name: 'Create offer' }).click()
  await heading(page, 'Dragons at dawn').waitFor()
  await becomes(() => page.getByLabel('Boost').inputValue(), '2.5')
  await becomes(() => page.getByLabel('Pinned position').inputValue(), '3')

  await page.getByRole('link', { name: 'Offers', exact: true }).first().click()
  await page.getByLabel('Search').fill('dragons-1')
  await page.waitForURL(/search=dragons-1/)
  await page.getByRole('link', { name: 'Dragons at dawn' }).waitFor()
  await page.getByRole('link', { name: 'Castle of Mirrors' }).waitFor({ state: 'detached' })
  await becomes(() => page.getByRole('row').count(), 2)
  await page.reload()
  await page.getByRole('link', { name: 'Dragons at dawn' }).waitFor()
  await becomes(() => page.getByLabel('Search').inputValue(), 'dragons-1', 'filters are in the address')
  assert.deepEqual(complaints, [])
})

test('an operator translates an offer and its goals, and takes a language away again', async () => {
  const { world } = dashboard
  const [translated = 0] = await world.createOffers({ name: 'Lighthouse', payout: undefined, goals: [{ name: 'Climb it', payout: '1' }, { name: 'Light it', payout: '1' }] }) // prettier-ignore
  const { page, complaints } = await dashboard.signIn('operator', null, { at: `/network/offers/${translated}` })
  const add = async (language: string) => {
    await page.getByRole('combobox', { name: 'Add a language' }).click()
    await pick(page.getByRole('option', { name: language }))
  }
  const within = (language: string) => page.getByRole('group', { name: language, exact: true })
  const save = async () => {
    const saved = page.waitForResponse((answer) => answer.request().method() === 'PUT')
    await page.getByRole('button', { name: 'Save', exact: true }).click()
    return (await saved).status()
  }
  const recorded = async () => {
    const { translations, goals } = await showOffer(world.database.db, translated)
    return [translations, ...goals.map((goal) => goal.translations)]
  }
  await add('German')
  await add('Polish')
  await within('German').getByLabel('Name', { exact: true }).fill('x'.repeat(301))
  await within('German').getByLabel('Goal 2 name').fill('Anzünden')
  await within('Polish').getByLabel('Name', { exact: true }).fill('Latarnia')
  assert.equal(await save(), 400)
  await within('German').getByText('Name must have at most 300 characters.').waitFor()
  complaints.length = 0 // a refused request is reported as an error, too
  await within('German').getByLabel('Name', { exact: true }).fill('Leuchtturm')
  await page.getByRole('button', { name: 'Move goal 2 up' }).click()
  assert.equal(await save(), 200)
  assert.deepEqual(await recorded(), ['{"de":{"name":"Leuchtturm"},"pl":{"name":"Latarnia"}}', '{"de":{"name":"Anzünden"}}', '']) // prettier-ignore
  await checkLooks(page)
  await page.getByRole('button', { name: 'Remove German' }).click()
  assert.equal(await save(), 200)
  assert.deepEqual(await recorded(), ['{"pl":{"name":"Latarnia"}}', '', ''])
  assert.deepEqual(complaints, [])
})

test('an operator sorts offers by a figure, and pauses and resumes several at once', async () => {
  const { db } = dashboard.world.database
  const { appId } = await dashboard.world.createApp()
  const [earning = 0] = await dashboard.world.createOffers({ name: 'Earning offer' }, { name: 'Idle offer' })
  await addClicks(db, { appId, offerId: earning, at: new Date().toISOString() })
  const { page, complaints } = await dashboard.signIn('operator', null, { at: '/network/offers' })
  await page.getByRole('link', { name: 'Castle of Mirrors', exact: true }).waitFor()
  await page.getByRole('columnheader', { name: 'EPC' }).getByRole('button').click()
  await page.getByRole('link', { name: 'Castle of Mirrors', exact: true }).waitFor({ state: 'detached' })
  await page.getByRole('link', { name: 'Earning offer', exact: true }).waitFor()
  assert.match(page.url(), /sort=epc/)
  await page.getByRole('button', { name: 'Show all, newest first' }).click()
  await page.getByRole('checkbox', { name: 'Select Idle offer' }).check()
  await page.getByRole('checkbox', { name: 'Select Earning offer' }).check()
  await page.getByText('2 selected').waitFor()
  await checkLooks(page)
  await page.getByRole('button', { name: 'Pause 2' }).click()
  await page.getByText('The offers leave all lists within a second.').waitFor()
  await page.getByRole('button', { name: 'Pause 2 offers' }).click()
  await page.getByText('2 offers paused.').waitFor()
  await becomes(() => page.getByRole('row').filter({ hasText: 'paused' }).count(), 2)
  await page.getByRole('checkbox', { name: 'Select all on this page' }).check()
  await page.getByRole('button', { name: 'Resume 2' }).click()
  await page.getByRole('button', { name: 'Resume 2 offers' }).click()
  await page.getByText('2 offers resumed.').waitFor()
  assert.deepEqual(complaints, [])
})

test('a picture is uploaded in the form of an offer, and what is no picture is refused', async () => {
  const { page, complaints } = await dashboard.signIn('operator', null, { at: `/network/offers/${offerId}` })
  const picture = page.getByRole('textbox', { name: 'Picture' })
  await picture.waitFor()
  const before = await picture.inputValue()
  const choose = async (name: string, buffer: Buffer) => {
    const [chooser] = await Promise.all([page.waitForEvent('filechooser'), page.getByRole('button', { name: 'Upload' }).click()]) // prettier-ignore
    await chooser.setFiles({ name, mimeType: 'image/png', buffer })
  }
  await choose('logo.png', Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"></svg>'))
  await page.getByText('Use a PNG, JPEG, WebP or GIF image.').waitFor()
  assert.equal(await picture.inputValue(), before)
  await checkLooks(page)
  complaints.length = 0
  for (const type of ['jpeg', 'webp', 'png']) {
    // As a browser writes it.
    const drawn = await page.evaluate<string>(`(() => {
      const canvas = Object.assign(document.createElement('canvas'), { width: 30, height: 20 })
      canvas.getContext('2d').fillRect(0, 0, 20, 20)
      return canvas.toDataURL('image/${type}').split(',')[1]
    })()`)
    await choose('picture.png', Buffer.from(drawn, 'base64')) // whatever its name says
    const path = new RegExp(`^/images/[0-9a-f]{32}[.]${type === 'jpeg' ? 'jpg' : type}$`)
    await becomes(async () => path.test(await picture.inputValue()), true, type)
  }
  const shown = JSON.stringify(`img[src="${await picture.inputValue()}"]`)
  await becomes(() => page.evaluate(`document.querySelector(${shown})?.naturalWidth`), 30)
  await page.getByRole('button', { name: 'Save' }).click()
  await becomes(() => page.getByRole('button', { name: 'Save' }).isDisabled(), true, 'all is saved')
  assert.deepEqual(complaints, [])
})

test('an operator changes, pauses and copies an offer, and finds all that in its history', async () => {
  const { page, complaints } = await dashboard.signIn('operator', null, { at: `/network/offers/${offerId}` })
  const name = page.getByRole('textbox', { name: 'Name', exact: true })
  await name.fill('Castle of Glass')
  await page.getByRole('button', { name: 'Pause' }).click()
  await page.getByRole('dialog', { name: 'Pause this offer?' }).getByRole('button', { name: 'Cancel' }).click()
  await page.getByRole('dialog').waitFor({ state: 'detached' })
  await page.getByRole('button', { name: 'Pause' }).click()
  await page.getByRole('button', { name: 'Pause offer' }).click()
  await page.getByRole('button', { name: 'Resume' }).waitFor()
  await becomes(() => name.inputValue(), 'Castle of Glass', 'what was typed is still there')
  await page.getByRole('button', { name: 'Save' }).click()
  await heading(page, 'Castle of Glass').waitFor()

  await page.getByRole('tab', { name: 'History' }).click()
  await page.getByText('paused the offer').waitFor()
  const row = page.getByRole('row', { name: /^name/ })
  await row.getByText('Castle of Mirrors').waitFor()
  await row.getByText('Castle of Glass').waitFor()
  await page.getByRole('tab', { name: 'Caps' }).click()
  await page
    .getByRole('row', { name: /Clicks in total/ })
    .getByText('10', { exact: true })
    .waitFor()

  await page.getByRole('button', { name: 'Duplicate' }).click()
  await page.getByRole('dialog').getByLabel('External ID').fill('offer-0')
  await page.getByRole('button', { name: 'Create paused copy' }).click()
  await page.getByText(/already has the external ID offer-0/).waitFor()
  complaints.length = 0
  await page.getByRole('dialog').getByLabel('External ID').fill('castle-copy')
  await page.getByRole('button', { name: 'Create paused copy' }).click()
  await page.getByText(/external ID castle-copy/).waitFor()
  assert.deepEqual(complaints, [])
})

test('an operator imports a file: sees first what it would do, then its progress and what was refused', async () => {
  const { page, complaints } = await dashboard.signIn('operator', null, { at: '/network/offers/import' })
  const choose = page.locator('input[type=file]')
  await choose.setInputFiles({ name: 'offers.txt', mimeType: 'text/plain', buffer: Buffer.from('x') })
  await page.getByText('must end in .json or .csv').waitFor()
  const rows = [
    { ...ROW, external_id: 'a', name: 'Imported one' },
    { ...ROW, external_id: 'b', name: 'Imported two', category: 'music' },
  ]
  await choose.setInputFiles({ name: 'offers.csv', mimeType: 'text/csv', buffer: Buffer.from(asCsv(rows)) })
  await page.getByRole('button', { name: 'Preview import' }).click()
  await page.getByRole('row', { name: /^3 category must be one of/ }).waitFor()
  await page.getByRole('row', { name: /^2 Imported one a new/ }).waitFor()
  await checkPage(page)
  await page.getByRole('button', { name: 'Import 1 offer' }).click()
  await page.getByText('offers.csv imported').waitFor()
  await page.getByRole('row', { name: /^3 category must be one of/ }).waitFor()
  await checkPage(page)
  await page.getByRole('link', { name: 'View offers' }).click()
  await page.getByRole('link', { name: 'Imported one' }).waitFor()
  await go(page, '/network/offers/import?import=unknown')
  await page.getByText('This import has expired').waitFor()
  complaints.splice(0, 1)
  assert.deepEqual(complaints, [])
})

test('a read-only operator sees offers and has nothing to change them with', async () => {
  const { page } = await dashboard.signIn('operator_reader', null, { at: `/network/offers/${offerId}` })
  await page.getByRole('tab', { name: 'Details' }).waitFor()
  for (const name of ['Pause', 'Resume', 'Duplicate', 'Save'])
    await becomes(() => page.getByRole('button', { name }).count(), 0, name)
  await becomes(() => page.getByRole('textbox', { name: 'Name', exact: true }).isDisabled(), true)
  await go(page, '/network/offers')
  await page.getByRole('table').waitFor()
  await becomes(() => page.getByRole('link', { name: 'New offer' }).count(), 0)
})

for (const [name, look] of [
  ['in light on a desktop', {}],
  ['in the dark on a phone', { colorScheme: 'dark', viewport: PHONE }],
] as const)
  testLooks(`every page of offers is open to everybody, ${name}`, async () => {
    const paths = [
      '',
      '?search=nothing',
      '/new',
      '/import',
      `/${offerId}`,
      `/${offerId}?tab=caps`,
      `/${offerId}?tab=history`,
    ]
    const { page } = await dashboard.signIn('operator', null, look)
    for (const path of paths) {
      await go(page, `/network/offers${path}`)
      await page.getByRole('heading', { level: 1 }).waitFor()
      await checkPage(page)
    }
  })
