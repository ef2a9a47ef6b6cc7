// How a wall looks: as its publisher set it, by theme and language, and with as little motion as the user wants.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Locator, Page } from 'playwright-core'
import { changeRewardSettings } from '../../src/features/apps/reward-settings.ts'
import { storeImage } from '../../src/features/offers/images.ts'
import { DEFAULTS, type WallSettings } from '../../src/features/wall/settings-schema.ts'
import { setWallSettings } from '../../src/features/wall/settings.ts'
import { LANGUAGES } from '../../src/lib/languages.ts'
import { TEXTS } from '../../src/features/wall/texts/texts.ts'
import { checkUsersPage, PHONE, useDashboard } from '../dashboard/browser.ts'
import { GIF, JPEG, PIXEL } from '../images.ts'
import { until } from '../installation.ts'
import { TESTER } from '../tester.ts'
import { signed, wallUrl } from './wall-url.ts'

const site = useDashboard('wall_looks', async (world) => {
  await world.createOffers({ name: 'Castle', category: 'game' }, { name: 'Tea', category: 'survey' })
})
const { world } = site

const NOTHING = { search: false, categories: false, sort: false, badges: false, activity: false, support: false }
const ROLES = { search: 'searchbox', sort: 'combobox' } as const
const BUTTONS = { categories: 'Games', activity: 'My activity', support: 'Help' } as const

async function shownParts(page: Page): Promise<Record<keyof WallSettings['shows'], boolean>> {
  await page.getByRole('button', { name: 'Castle' }).waitFor()
  const has = async (part: 'search' | 'sort') => (await page.getByRole(ROLES[part]).count()) > 0
  const offers = async (part: keyof typeof BUTTONS) => (await page.getByRole('button', { name: BUTTONS[part], exact: true }).count()) > 0 // prettier-ignore
  return {
    search: await has('search'),
    categories: await offers('categories'),
    sort: await has('sort'),
    badges: (await page.locator('.card .badge').count()) > 0,
    activity: await offers('activity'),
    support: await offers('support'),
  }
}

test('pictures, colors, corners, font and texts are those of the app, and what it hides is not there', async () => {
  const { db } = world.database
  const [logo, hero, icon] = [await storeImage(db, TESTER, PIXEL), await storeImage(db, TESTER, GIF), await storeImage(db, TESTER, JPEG)] // prettier-ignore
  const look: WallSettings = {
    ...DEFAULTS,
    theme: 'dark',
    dark: { accent: '#ffcc00', background: '#101820', card: '#203040', text: '#f0f0f0' },
    light: { ...DEFAULTS.light, background: '#fffaf0' },
    radius: 3,
    font: 'mono',
    logo: logo.path,
    hero: hero.path,
    currency_icon: icon.path,
    title: 'Treasure room',
    intro: 'Gold for everyone.',
  }
  const { page, complaints } = await site.open({ viewport: PHONE })
  const openWith = async (shows: WallSettings['shows']) => {
    const { appId, live } = await world.createApp({ currency: 'Gems' })
    await setWallSettings(db, TESTER, appId, { ...look, shows })
    await page.goto(wallUrl(site.url, live, signed(live)))
    return live
  }
  await openWith(NOTHING)
  assert.deepEqual(await shownParts(page), NOTHING)
  const live = await openWith(DEFAULTS.shows)
  assert.deepEqual(await shownParts(page), DEFAULTS.shows)

  const header = page.locator('header')
  assert.match(await header.innerText(), /^Treasure room\s+Gold for everyone\.$/)
  for (const [place, image] of [['.head .logo', logo], ['.head .hero', hero], ['.card .icon', icon]] as const) {
    const picture = page.locator(`img${place.replace(/^(\S+) /, '')}`).first()
    assert.equal(await picture.getAttribute('src'), image.path, place)
    await until(() => page.evaluate<boolean>(`document.querySelector('${place}').naturalWidth > 0`))
  } // prettier-ignore
  const reward = page.locator('.card .amount').first()
  assert.equal(await reward.locator('[aria-hidden]').innerText(), '100')
  assert.equal(await reward.locator('.unseen').textContent(), '100 Gems', 'for screen readers')
  const styleOf = (selector: string, name: string) =>
    page.evaluate<string>(`getComputedStyle(document.querySelector('${selector}')).getPropertyValue('${name}')`)
  assert.equal(await styleOf('body', 'background-color'), 'rgb(16, 24, 32)')
  assert.equal(await styleOf('.card', 'background-color'), 'rgb(32, 48, 64)')
  assert.equal(await styleOf('.chips [aria-pressed=true]', 'background-color'), 'rgb(255, 204, 0)')
  assert.equal(await styleOf('.chips [aria-pressed=true]', 'color'), 'rgb(0, 0, 0)')
  assert.equal(await styleOf('.card', 'border-radius'), '3px')
  assert.match(await styleOf('body', 'font-family'), /^ui-monospace/)
  await checkUsersPage(page)

  const shownAs = async (theme: string) => {
    await page.goto(wallUrl(site.url, live, { theme, category: 'game' }))
    await page.getByRole('button', { name: 'Castle' }).waitFor()
    return [await page.locator('html').getAttribute('data-theme'), await styleOf('body', 'background-color')]
  }
  assert.deepEqual(await shownAs('light'), ['light', 'rgb(255, 250, 240)'])
  assert.deepEqual(await shownAs('dark'), ['dark', 'rgb(16, 24, 32)'])
  assert.deepEqual(await shownAs('auto'), ['auto', 'rgb(255, 250, 240)'])
  await page.emulateMedia({ colorScheme: 'dark' })
  assert.equal(await styleOf('body', 'background-color'), 'rgb(16, 24, 32)')
  assert.equal(await page.getByRole('button', { name: 'Tea' }).count(), 0, 'of another category')
  assert.equal(await page.getByRole('button', { name: 'Games' }).getAttribute('aria-pressed'), 'true')
  await page.getByRole('button', { name: 'All' }).click()
  await page.getByRole('button', { name: 'Tea' }).waitFor()
  assert.deepEqual(complaints, [])
})

test('a sale is shown with its end, in numbers and times as the language writes them', async () => {
  const { appId, live } = await world.createApp()
  const [startsAt, endsAt] = [-1, 50].map((hours) => new Date(Date.now() + hours * 3_600_000)) as [Date, Date]
  await changeRewardSettings(world.database.db, TESTER, appId, { sale: { multiplierPpm: 1_500_000, startsAt, endsAt } })
  await world.app.refresh()
  const { page } = await site.open()
  const shown = new Set<string>()
  for (const lang of ['en', 'de', 'ar'] as const) {
    await page.goto(wallUrl(site.url, live, { lang }))
    const when = await page.evaluate<string>(
      `new Intl.DateTimeFormat('${lang}', { dateStyle: 'medium', timeStyle: 'short' }).format(new Date('${endsAt.toISOString()}'))`,
    )
    const multiplier = new Intl.NumberFormat(lang).format(1.5)
    assert.equal(await page.locator('.sale').textContent(), TEXTS[lang].sale.replace('{multiplier}', multiplier).replace('{when}', when)) // prettier-ignore
    shown.add(when)
  }
  assert.equal(shown.size, 3)
  assert.equal(await page.locator('.card .amount').first().textContent(), `150 Coins`)
})

test('what is credited moves into view, but not for users who want no motion', async () => {
  const { live } = await world.createApp()
  const [offerId = 0] = await world.createOffers({ name: 'Moving' })
  const pages = await Promise.all(
    (['reduce', 'no-preference'] as const).map(async (reducedMotion) => {
      const { page } = await site.open()
      await page.emulateMedia({ reducedMotion })
      await page.goto(wallUrl(site.url, live, signed(live)))
      await page.evaluate(`window.moved = []; addEventListener('animationstart', ({ animationName }) => moved.push(animationName))`) // prettier-ignore
      await page.getByRole('button', { name: 'My activity' }).click()
      await page.getByText('Nothing here yet').waitFor()
      return page
    }),
  )
  await world.confirm(offerId, (await world.click(offerId, live, 'userId=ann')).clickId)
  for (const page of pages) await page.getByText('You received 100 Coins').waitFor()
  const [still, moving] = pages as [Page, Page]
  await until(async () => (await moving.evaluate<string[]>('moved')).includes('rise'))
  assert.equal(await still.evaluate('document.getAnimations().length'), 0)
  assert.deepEqual(await still.evaluate('moved'), [])
})

test('on a phone nothing is cut or runs together: the search in any language, links in a row, an offer’s description', async () => {
  const { live } = await world.createApp()
  const [offerId = 0] = await world.createOffers({ name: 'Long story', description: 'Once upon a time.' })
  await world.click(offerId, live, 'userId=ann')
  const { page } = await site.open({ viewport: PHONE })
  for (const lang of LANGUAGES) {
    await page.goto(wallUrl(site.url, live, { lang }))
    await page.getByPlaceholder(TEXTS[lang].search).waitFor()
    const [needed, there] = await page.evaluate<[number, number]>(`(() => {
      const field = document.querySelector('input[type=search]')
      const style = getComputedStyle(field)
      const canvas = document.createElement('canvas').getContext('2d')
      canvas.font = style.font
      return [canvas.measureText(field.placeholder).width, field.clientWidth - parseFloat(style.paddingLeft) - parseFloat(style.paddingRight)]
    })()`)
    assert.ok(needed <= there, `${lang}: "${TEXTS[lang].search}" takes ${needed} of ${there} pixels`)
  }
  const boxOf = async (element: Locator) => (await element.boundingBox()) ?? { x: 0, y: 0, width: 0, height: 0 }
  await page.goto(wallUrl(site.url, live, signed(live)))
  await page.getByRole('button', { name: 'My activity' }).click()
  const goOn = await boxOf(page.getByRole('button', { name: 'Continue offer' }))
  const wrong = await boxOf(page.getByRole('button', { name: 'Something wrong?' }))
  assert.ok(wrong.x >= goOn.x + goOn.width + 12 || wrong.y >= goOn.y + goOn.height)
  await page.getByRole('button', { name: 'Continue offer' }).click()
  const dialog = page.getByRole('dialog', { name: 'Long story' })
  const badges = await boxOf(dialog.locator('.badges'))
  const description = await boxOf(dialog.getByText('Once upon a time.'))
  assert.ok(description.y >= badges.y + badges.height + 8)
})

test('what is written on a picture is readable, also on a white one, however much it is', async () => {
  const { db } = world.database
  const { appId, live } = await world.createApp()
  const hero = await storeImage(db, TESTER, GIF)
  await setWallSettings(db, TESTER, appId, { ...DEFAULTS, hero: hero.path, intro: 'Many words. '.repeat(12).trim() })
  const { page } = await site.open({ viewport: PHONE })
  const white =
    '<svg xmlns="http://www.w3.org/2000/svg" width="400" height="400"><rect width="400" height="400" fill="#fff"/></svg>'
  await page.route(`**${hero.path}`, (route) => route.fulfill({ body: white, contentType: 'image/svg+xml' }))
  await page.goto(wallUrl(site.url, live))
  await until(() => page.evaluate<boolean>(`document.querySelector('.hero')?.naturalWidth === 400`))
  const words = page.locator('.head > div')
  await page.evaluate(
    `Object.assign(document.querySelector('.head > div').style, { color: 'transparent', textShadow: 'none' })`,
  )
  const picture = (await words.screenshot()).toString('base64')
  const lightest = await page.evaluate<number>(`(async () => {
    const image = Object.assign(new Image(), { src: 'data:image/png;base64,${picture}' })
    await image.decode()
    const canvas = Object.assign(document.createElement('canvas'), { width: image.width, height: image.height })
    const context = canvas.getContext('2d')
    context.drawImage(image, 0, 0)
    return context.getImageData(0, 0, image.width, image.height).data.reduce((most, value, i) => (i % 4 === 3 ? most : Math.max(most, value)), 0)
  })()`)
  assert.ok(lightest > 0 && lightest <= LIGHTEST_BEHIND_WHITE, `there is a gray of ${lightest} behind white words`)
})

/** White has a contrast of 4.5 to it (WCAG 2). */
const LIGHTEST_BEHIND_WHITE = 0x76
