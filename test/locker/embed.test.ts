// What the script of lockers does in publishers' pages: those that change, of every language, and those that allow little.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import { LANGUAGES } from '../../src/lib/languages.ts'
import { TEXTS } from '../../src/features/lockers/texts.ts'
import { until } from '../installation.ts'
import { BROWSER } from '../world.ts'
import { useLockers } from './lockers.ts'

// What functions that run in the page use of it.
type Box = { left: number; right: number; width: number }
type Part = {
  querySelectorAll(of: string): Iterable<Part>
  querySelector(of: string): Part
  getBoundingClientRect(): Box
}
declare const document: { activeElement: unknown; createRange(): Part & { selectNodeContents(of: Part): void } }

const { site, world, addLocker, createOne, openSite } = useLockers('locker_embed')
const LINK = { link: { target_url: 'https://files.example.com/album' } }

/** Set before the page runs: whether any of these words was ever painted. */
const NOTE_PAINTED = `window.painted = new Set(); requestAnimationFrame(function look() {
  for (const word of ['First', 'Second', 'Third', 'Fourth']) if (document.body?.innerText.includes(word)) painted.add(word)
  requestAnimationFrame(look)
})`
const paintedOn = (page: Page) => page.evaluate<string[]>('[...painted]')
const framesOf = (page: Page) => page.evaluate<number>(`document.querySelectorAll('iframe').length + [...document.querySelectorAll('offer-locker')].filter((one) => one.shadowRoot?.querySelector('iframe')).length`) // prettier-ignore
const nextFrame = (page: Page) => page.evaluate('new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))') // prettier-ignore

test('elements that are added, marked or moved later are covered before they are seen, and leave nothing behind', async () => {
  const { lockerId } = await createOne()
  await world.createOffers({ name: 'Tea survey' })
  const { page } = await site.open({ userAgent: BROWSER })
  await page.addInitScript(NOTE_PAINTED)
  await page.goto(await openSite('<main></main><aside></aside>'))
  const run = async (script: string) => {
    await page.evaluate(`(() => { const main = document.querySelector('main'), aside = document.querySelector('aside'); ${script} })()`) // prettier-ignore
    await nextFrame(page)
  }
  await run(`main.innerHTML = '<section><p data-offer-locker="${lockerId}">First</p></section>'`)
  await run(`const p = document.createElement('p'); p.textContent = 'Second'; p.dataset.offerLocker = '${lockerId}'; aside.append(p)`) // prettier-ignore
  await run(`const one = document.createElement('offer-locker'); one.textContent = 'Third'; aside.append(one); one.setAttribute('locker', '${lockerId}')`) // prettier-ignore
  assert.deepEqual([await paintedOn(page), await framesOf(page)], [[], 3])
  await page.frameLocator('main iframe').getByText('Tea survey').waitFor()
  await run(`aside.append(document.querySelector('section p'))`) // without its frame
  assert.deepEqual([await paintedOn(page), await framesOf(page)], [[], 3])
  assert.equal(await page.locator('main iframe').count(), 0)
  await page.frameLocator('aside iframe').last().getByText('Tea survey').waitFor()
  await run(`aside.replaceChildren()`)
  assert.equal(await framesOf(page), 0)
  await run(`main.innerHTML = '<p hidden>Fourth</p>'; const p = main.firstChild; p.dataset.offerLocker = '${lockerId}'; p.hidden = false`) // prettier-ignore
  assert.deepEqual([await paintedOn(page), await framesOf(page)], [[], 1])
  await run(`delete main.querySelector('p').dataset.offerLocker`)
  assert.deepEqual([await paintedOn(page), await framesOf(page)], [['Fourth'], 0])
})

test('what is unlocked stays so while the page changes around it', async () => {
  const { lockerId } = await createOne()
  const [offerId = 0] = await world.createOffers({ name: 'Mint tea' })
  const { page } = await site.open({ userAgent: BROWSER })
  await page.goto(await openSite(`<p data-offer-locker="${lockerId}">The words</p><aside></aside>`))
  const link = await page
    .frameLocator('iframe')
    .getByRole('link', { name: /Mint tea/ })
    .getAttribute('href')
  await world.confirm(offerId, (await world.follow(link ?? '')).clickId)
  await page.getByText('The words').waitFor()
  await page.evaluate(`document.querySelector('aside').innerHTML = '<p>More</p>'; document.querySelector('p').textContent = 'The other words'`) // prettier-ignore
  await nextFrame(page)
  assert.equal(await page.getByText('The other words').isVisible(), true)
  assert.equal(await framesOf(page), 0)
  assert.equal((await page.evaluate<string[]>('window.proofs')).length, 1)
})

test('a locker speaks the language of what is around it, then that of the page, then the visitor’s; so is its frame named', async () => {
  const { lockerId } = await createOne()
  const { page } = await site.open({ userAgent: BROWSER, locale: 'fr-CA' })
  const titles = new Set<string>()
  const speaks = async (lang: string, at = 'offer-locker iframe') => {
    const language = lang as keyof typeof TEXTS
    await page.frameLocator(at).getByRole('heading', { name: TEXTS[language].content_title }).waitFor()
    titles.add(`${lang} ${await page.locator(at).getAttribute('title')}`)
  }
  const locker = `<offer-locker locker="${lockerId}">Words</offer-locker>`
  for (const lang of LANGUAGES) {
    await page.goto(await openSite(locker, { lang: lang === 'pt' ? 'pt-BR' : lang }))
    await speaks(lang)
  }
  assert.deepEqual([...titles], ['en Offers', 'de Angebote', 'es Ofertas', 'fr Offres', 'pt Ofertas', 'pl Oferty', 'tr Teklifler', 'ar عروض']) // prettier-ignore
  await page.goto(await openSite(locker, { lang: 'nl' })) // not one of ours
  await speaks('fr')
  const own = `<div lang="es">${locker}</div><p lang="pl" title="Oferta dnia" data-offer-locker="${lockerId}">Two</p>`
  await page.goto(await openSite(own, { lang: 'de' }))
  await speaks('es')
  await speaks('pl', 'body > iframe')
  assert.ok(titles.has('pl Oferta dnia'))
})

test('a locker shows five offers, and the others when asked; they stay shown, and the keyboard goes on with them', async () => {
  const { lockerId } = await createOne()
  const offerIds = await world.createOffers(...Array.from({ length: 8 }, (_, i) => ({ name: `Quiz number ${i + 1}` })))
  const { page } = await site.open({ userAgent: BROWSER })
  await page.goto(await openSite(`<offer-locker locker="${lockerId}">Words</offer-locker>`))
  const frame = page.frameLocator('iframe')
  const count = () => frame.getByRole('listitem').count()
  await frame.getByRole('button', { name: 'Show more' }).waitFor()
  assert.equal(await count(), 5)
  const height = (await page.locator('iframe').boundingBox())?.height ?? 0
  assert.ok(height < 700, `${height} px high`)
  await frame.getByRole('button', { name: 'Show more' }).press('Enter')
  const all = await count()
  assert.ok(all >= 8)
  assert.equal(await frame.getByRole('button', { name: 'Show more' }).count(), 0)
  assert.equal(await frame.locator('li:nth-child(6) a').evaluate((one) => one === document.activeElement), true)
  // One goes away: the list is shown anew.
  await world.database.db.updateTable('offers').set({ status: 'paused' }).where('offer_id', '=', offerIds[0] ?? 0).execute() // prettier-ignore
  await world.app.refresh()
  await frame.locator('body').evaluate(`document.dispatchEvent(new Event('visibilitychange'))`)
  await until(async () => (await count()) === all - 1)
  assert.equal(await frame.getByRole('button', { name: 'Show more' }).count(), 0)
})

test('nothing is painted around a locker in a page of the other theme', async () => {
  const { appId, lockerId } = await createOne()
  const dark = await addLocker(appId, { look: { theme: 'dark' } })
  await world.createOffers({ name: 'Oolong' })
  for (const [colorScheme, id] of [
    ['dark', lockerId],
    ['light', dark.lockerId],
  ] as const) {
    const { page } = await site.open({ userAgent: BROWSER, colorScheme })
    await page.goto(await openSite(`<offer-locker locker="${id}">Words</offer-locker>`))
    await page.frameLocator('iframe').getByText('Oolong').first().waitFor()
    const pixel = (x: number, y: number) => page.screenshot({ clip: { x, y, width: 1, height: 1 } })
    const { x = 0, y = 0 } = (await page.locator('iframe').boundingBox()) ?? {}
    await until(async () => (await pixel(x + 20, y + 20)).equals(await pixel(1, 1)))
    assert.equal((await pixel(640, y + 30)).equals(await pixel(1, 1)), false, 'the locker itself is dark')
  }
})

/** Beside the texts of an offer; none while the list is shown anew. */
function readGaps(row: Part): { left: number; right: number }[] {
  return [...row.querySelectorAll('b, small')].flatMap((part) => {
    const around = row.querySelector('div').getBoundingClientRect()
    const range = document.createRange()
    range.selectNodeContents(part)
    const { left, right } = range.getBoundingClientRect()
    return around.width === 0 ? [] : [{ left: left - around.left, right: around.right - right }]
  })
}

test('an offer’s name and description have one direction, also in a page that is read from right to left', async () => {
  const { slug } = await createOne(LINK)
  await world.createOffers({ name: 'Latin quest', description: 'Play to level 3.' }, { name: 'لعبة عربية', description: 'العب حتى المستوى 3' }) // prettier-ignore
  const { page } = await site.open({ userAgent: BROWSER })
  for (const [lang, name, side] of [
    ['ar', 'Latin quest', 'left'],
    ['ar', 'لعبة عربية', 'right'],
    ['en', 'لعبة عربية', 'right'],
  ] as const) {
    // prettier-ignore
    await page.goto(`${site.url}/l/${slug}?lang=${lang}`)
    const row = page.getByRole('listitem').filter({ hasText: name })
    let gaps: { left: number; right: number }[] = []
    await until(async () => (gaps = await row.evaluate(readGaps)).length === 2)
    for (const gap of gaps) assert.ok(gap[side] < 1, `${lang}: ${name} begins at the ${side}: ${JSON.stringify(gap)}`)
  }
})

test('a page that allows no styles, and no scripts but named ones, has its lockers', async () => {
  const { lockerId } = await createOne()
  const [offerId = 0] = await world.createOffers({ name: 'Black tea' })
  const { page, complaints } = await site.open({ userAgent: BROWSER })
  const policy = `default-src 'none'; script-src 'unsafe-inline' ${site.url}; style-src 'none'; frame-src ${site.url}; base-uri 'none'; require-trusted-types-for 'script'` // prettier-ignore
  const body = `<offer-locker locker="${lockerId}">The words</offer-locker><p data-offer-locker="${lockerId}">The rest</p>`
  const url = await openSite(body, { headers: { 'Content-Security-Policy': policy } })
  await page.goto(url)
  const link = await page.frameLocator('offer-locker iframe').getByRole('link', { name: /Black tea/ }).getAttribute('href') // prettier-ignore
  await page.frameLocator('body > iframe').getByText('Black tea').waitFor()
  assert.equal(await page.getByText('The rest').isVisible(), false)
  const box = await page.locator('body > iframe').boundingBox()
  await until(async () => (await page.locator('body > iframe').boundingBox())?.height !== 480)
  assert.ok((box?.width ?? 0) > 600, 'it is as wide as the page')
  await world.confirm(offerId, (await world.follow(link ?? '')).clickId)
  for (const text of ['The words', 'The rest']) await page.getByText(text).waitFor()
  assert.deepEqual(complaints.filter((one) => !one.startsWith(`leaves: ${url}`) && !one.includes('favicon')), []) // prettier-ignore
})

test('without any storage, a link and the lockers of a page work for as long as they are open', async () => {
  const { slug } = await createOne(LINK)
  const { lockerId } = await createOne()
  const [green = 0, white = 0] = await world.createOffers({ name: 'Green tea' }, { name: 'White tea' })
  const { page } = await site.open({ userAgent: BROWSER })
  await page.addInitScript(`for (const name of ['localStorage', 'sessionStorage', 'indexedDB'])
    Object.defineProperty(window, name, { get() { throw new DOMException('Access is denied for this document.', 'SecurityError') } })`) // prettier-ignore
  const visitors = new Set<string>()
  page.on('request', (request) => request.url().endsWith('/visits') && visitors.add(/visitor":"(\w+)/.exec(request.postData() ?? '')?.[1] ?? 'new')) // prettier-ignore
  await page.route('https://files.example.com/**', (route) => route.fulfill({ body: 'the album', contentType: 'text/plain' })) // prettier-ignore
  await page.goto(`${site.url}/l/${slug}`)
  const link = await page.getByRole('link', { name: 'Start: Green tea' }).getAttribute('href')
  await world.confirm(green, (await world.follow(link ?? '')).clickId)
  await page.getByRole('button', { name: 'Open the link' }).click()
  await page.waitForURL('https://files.example.com/album')
  assert.equal(visitors.size, 2, 'new at first, then the same')

  await page.goto(await openSite(`<offer-locker locker="${lockerId}">The words</offer-locker><p data-offer-locker="${lockerId}">The rest</p>`)) // prettier-ignore
  await page.frameLocator('body > iframe').getByText('White tea').waitFor()
  const other = await page.frameLocator('offer-locker iframe').getByRole('link', { name: 'Start: White tea' }).getAttribute('href') // prettier-ignore
  await world.confirm(white, (await world.follow(other ?? '')).clickId)
  for (const text of ['The words', 'The rest']) await page.getByText(text).waitFor()
  assert.equal(visitors.size, 3, 'both lockers know the same visitor')
})
