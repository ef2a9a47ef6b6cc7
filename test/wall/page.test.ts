// The wall as users meet it: in Chromium, in a frame of another origin, on a phone, by keyboard, in every language.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import type { IssuedCredentials } from '../../src/features/apps/keys.ts'
import { DEFAULTS, type WallSettings } from '../../src/features/wall/settings-schema.ts'
import { setWallSettings } from '../../src/features/wall/settings.ts'
import { LANGUAGES } from '../../src/lib/languages.ts'
import { TEXTS } from '../../src/features/wall/texts/texts.ts'
import { answerTicket } from '../../src/features/wall/ticket-answers.ts'
import { banUser } from '../../src/features/apps/bans.ts'
import { checkUsersPage, PHONE, useDashboard } from '../dashboard/browser.ts'
import { PIXEL } from '../images.ts'
import { until } from '../installation.ts'
import { TESTER } from '../tester.ts'
import { messagesOf, openParentSite, wallIn } from './parent-site.ts'
import { signed, wallUrl } from './wall-url.ts'

const site = useDashboard('wall_page')
const { world } = site
world.config = { ...world.config, smtpUrl: 'smtp://127.0.0.1:9' } // walls ask for an email address where mail is sent

const urlOf = (keys: IssuedCredentials, more: Record<string, string> = {}) => wallUrl(site.url, keys, more)

const setWall = (appId: number, settings: Partial<WallSettings>) =>
  setWallSettings(world.database.db, TESTER, appId, { ...DEFAULTS, ...settings })

test('in a frame of another site with a strict policy and a sandbox, a user finds an offer and starts it', async () => {
  const { live } = await world.createApp({ currency: 'Gems' })
  const [offerId = 0] = await world.createOffers(
    { name: 'Castle builder', category: 'game', payout: undefined, requirements: 'New players only.', goals: [{ name: 'Install', payout: '1' }, { name: 'Level 9', payout: '2' }], destination_url: `${site.url}/healthz?c={click_id}` },
    { name: 'Tea survey', category: 'survey' },
  ) // prettier-ignore
  const parent = await openParentSite()
  const { page } = await site.open()
  await page.goto(parent.at(urlOf(live), 'allow-scripts allow-same-origin allow-popups allow-popups-to-escape-sandbox'))
  await until(async () => (await messagesOf(page)).length > 0)
  const [ready] = await messagesOf(page)
  assert.deepEqual([ready?.origin, ready?.source, ready?.event], [site.url, 'offerdeck-wall', 'ready'])
  const wall = wallIn(page)
  await wall.getByRole('button', { name: 'Games' }).click()
  await wall.getByText('Tea survey').waitFor({ state: 'detached' })
  await wall.getByRole('searchbox').fill('castle')
  const counted = page.waitForResponse((response) => response.url().includes('/wall/v1/opened'))
  await wall.getByRole('button', { name: 'Castle builder' }).click()
  assert.equal((await counted).status(), 200)
  const dialog = wall.getByRole('dialog', { name: 'Castle builder' })
  assert.match(
    await dialog.innerText(),
    /300 Gems[\s\S]*Install[\s\S]*100 Gems[\s\S]*Level 9[\s\S]*200 Gems[\s\S]*New players only/,
  )
  const [opened] = await Promise.all([
    page.waitForEvent('popup'),
    dialog.getByRole('link', { name: 'Start offer' }).click(),
  ])
  await opened.waitForURL(/healthz/)
  assert.equal(await opened.evaluate('document.referrer'), '')
  const clickId = new URL(opened.url()).searchParams.get('c') ?? ''
  const click = await world.database.db.selectFrom('clicks').selectAll().where('click_id', '=', clickId).executeTakeFirstOrThrow() // prettier-ignore
  assert.deepEqual([click.offer_id, click.user_id], [offerId, 'ann'])
  assert.deepEqual((await messagesOf(page)).at(-1)?.detail, { offer_id: offerId })
})

test('two tabs of a user show a reward, one after its connection was cut; neither needs cookies or storage', async () => {
  const { live } = await world.createApp({ currency: 'Gems' })
  const [offerId = 0] = await world.createOffers({ name: 'Castle builder', payout: '1' })
  const parent = await openParentSite()
  const { page: tab } = await site.open()
  const { page: cut } = await site.open()
  for (const page of [tab, cut]) {
    await page.addInitScript(DENY_STORAGE)
    await page.goto(parent.at(urlOf(live, signed(live))))
    await wallIn(page).getByRole('button', { name: 'My activity' }).click()
    await wallIn(page).getByText('Nothing here yet').waitFor()
  }
  await cut.context().setOffline(true)
  const { clickId } = await world.click(offerId, live, 'userId=ann')
  await world.confirm(offerId, clickId)
  await wallIn(tab).getByText('You received 100 Gems').waitFor()
  assert.equal(await wallIn(cut).getByText('Castle builder').count(), 0)
  await cut.context().setOffline(false)
  await wallIn(cut).getByRole('listitem').filter({ hasText: 'Castle builder' }).first().waitFor()
  const [later = 0] = await world.createOffers({ name: 'Tea survey', payout: '2' })
  world.app.server.server.closeAllConnections()
  await world.confirm(later, (await world.click(later, live, 'userId=ann')).clickId)
  for (const page of [tab, cut]) await wallIn(page).getByRole('listitem').filter({ hasText: 'Tea survey' }).first().waitFor() // prettier-ignore
  assert.deepEqual(await tab.context().cookies(), [])
})

/** As browsers do in frames of other sites. */
const DENY_STORAGE = `for (const [target, name] of [[window, 'localStorage'], [window, 'sessionStorage'], [window, 'indexedDB'], [Document.prototype, 'cookie']])
  Object.defineProperty(target, name, { get() { throw new DOMException('denied', 'SecurityError') }, set() { throw new DOMException('denied', 'SecurityError') } })`

test('a signature that expires while the page is open says so', async (t) => {
  const { live } = await world.createApp()
  const { page } = await site.open()
  const user = signed(live)
  await page.goto(urlOf(live, user))
  await page.getByRole('button', { name: 'My activity' }).click()
  t.mock.timers.enable({ apis: ['Date'], now: (Number(user['exp']) + 1) * 1000 })
  await page.evaluate(`document.dispatchEvent(new Event('visibilitychange'))`)
  await page.getByText('This page has expired').waitFor()
})

test('what users and advertisers write is never run', async () => {
  const { live } = await world.createApp({ currency: '<b onclick=alert(1)>$&' })
  const evil = '</script><img src=x onerror=alert(1)><script>alert(1)</script>'
  await world.createOffers({ name: evil, description: evil, requirements: evil })
  const { page, complaints } = await site.open()
  let alerts = 0
  page.on('dialog', (dialog) => (alerts++, void dialog.dismiss()))
  await page.goto(urlOf(live, { userId: `${evil}"'\u2028`, lang: 'en' }))
  await page.getByRole('button', { name: evil }).click()
  await page.getByRole('dialog').getByText(evil).first().waitFor()
  assert.equal(alerts, 0)
  assert.deepEqual(complaints, [])
})

test('only the pages that a publisher allows can frame its wall', async () => {
  const { appId, live } = await world.createApp()
  const parent = await openParentSite()
  await setWall(appId, { parents: ['https://game.example'] })
  const { page } = await site.open()
  await page.goto(parent.at(urlOf(live)))
  await page.waitForLoadState('networkidle')
  assert.deepEqual(await messagesOf(page), [])
  assert.equal(
    page.frames().some((one) => one.url().includes('/wall?')),
    false,
  )
  await setWall(appId, { parents: [parent.origin] })
  await until(async () => {
    await page.goto(parent.at(urlOf(live)))
    await page.waitForLoadState('networkidle')
    return (await messagesOf(page)).length > 0
  })
})

test('a wall that requires signatures shows no offers without one, and says what is missing', async () => {
  const { appId, live } = await world.createApp()
  await world.createOffers({ name: 'Hidden offer' })
  await setWall(appId, { require_signature: true })
  const { page } = await site.open()
  await page.goto(urlOf(live))
  assert.match(await page.locator('main').innerText(), /signed users only[\s\S]*signing secret/)
  assert.equal(await page.getByText('Hidden offer').count(), 0)
  assert.equal((await page.request.get(urlOf(live).replace('/wall?', '/wall/v1/offers?'))).status(), 400)
  await page.goto(urlOf(live, signed(live)))
  await page.getByText('Hidden offer').waitFor()
  await page.goto(`${site.url}/wall?apiKey=${live.api_key}`)
  assert.match(await page.locator('main').innerText(), /userId/)
})

test('a user without offers, a banned one, and one without a connection know what to do', async () => {
  const { appId, live } = await world.createApp({ blockedCategories: ['app', 'game', 'survey', 'video'] })
  const { page } = await site.open({ viewport: PHONE })
  await page.goto(urlOf(live, { country: 'SE' }))
  await page.getByText('No offers for your country right now').waitFor()
  await banUser(world.database.db, TESTER, { appId, userId: 'ann', reason: 'fraud' })
  await world.app.refresh()
  await page.goto(urlOf(live))
  await page.getByText('Offers are not available to you').waitFor()
  const { live: open } = await world.createApp()
  await world.createOffers({ name: 'Back again' })
  await page.goto(urlOf(open))
  await page.context().setOffline(true)
  await page.getByRole('button', { name: 'Apps' }).click()
  await page.getByText('You are offline').waitFor()
  await page.context().setOffline(false)
  await page.getByText('Back again').waitFor()
})

test('a list without offers says so, and one that a filter leaves empty is shown again by "Clear filters"', async () => {
  const { live: none } = await world.createApp({ blockedCategories: ['app', 'game', 'survey', 'video'] })
  const { page } = await site.open({ viewport: PHONE })
  await page.goto(urlOf(none))
  await page.getByRole('heading', { name: 'No offers right now' }).waitFor()
  assert.equal(await page.getByRole('button', { name: 'Clear filters' }).count(), 0)
  await checkUsersPage(page)

  const { live } = await world.createApp({ blockedCategories: ['survey'] })
  await world.createOffers({ name: 'Found again', category: 'game' })
  await page.goto(urlOf(live, { sort: 'newest' }))
  await page.getByRole('button', { name: 'Found again' }).waitFor()
  await page.getByRole('button', { name: 'Surveys' }).click()
  await page.getByRole('searchbox').fill('nothing has this name')
  const clear = page.getByRole('button', { name: 'Clear filters' })
  await clear.waitFor()
  await page.getByRole('heading', { name: 'No offers match' }).waitFor()
  await checkUsersPage(page)
  await clear.click()
  await page.getByRole('button', { name: 'Found again' }).waitFor()
  assert.equal(await page.getByRole('searchbox').inputValue(), '')
  assert.equal(await page.getByRole('button', { name: 'All', exact: true }).getAttribute('aria-pressed'), 'true')
  assert.equal(await page.evaluate('document.activeElement.type'), 'search')
})

test('it is used by keyboard alone, in both themes, at 200 %, and from right to left', async () => {
  const { live } = await world.createApp()
  await world.createOffers(
    { name: 'Keyboard offer', description: 'One two three. '.repeat(40) },
    { payment_required: true },
  )
  const { page } = await site.open({ viewport: { width: 195, height: 400 } }) // a phone at 200 %
  await page.goto(urlOf(live, { sort: 'newest' }))
  await checkUsersPage(page)
  const focused = () => page.evaluate<string>('document.activeElement.textContent')
  for (let presses = 0; presses < 30 && (await focused()) !== 'Keyboard offer'; presses++)
    await page.keyboard.press('Tab')
  await page.keyboard.press('Enter')
  await page.getByRole('link', { name: 'Start offer' }).waitFor()
  assert.equal(await focused(), 'Start offer')
  await checkUsersPage(page)
  await page.keyboard.press('Escape')
  await page.getByRole('dialog').waitFor({ state: 'detached' })
  assert.equal(await focused(), 'Keyboard offer', 'the focus is where it was')
  await page.setViewportSize(PHONE)
  for (const lang of LANGUAGES) {
    await page.goto(urlOf(live, { lang, theme: lang === 'ar' ? 'dark' : 'light' }))
    await page.getByRole('button', { name: TEXTS[lang].game, exact: true }).waitFor()
    assert.equal(await page.evaluate('document.dir'), lang === 'ar' ? 'rtl' : 'ltr')
    if (lang === 'ar') await checkUsersPage(page)
  }
})

test('a user asks about a started offer with a screenshot, and reads the answer as it is written', async () => {
  const { live, appId } = await world.createApp()
  const [offerId = 0] = await world.createOffers({ name: 'Slow game' })
  await world.click(offerId, live, 'userId=ann')
  const { page } = await site.open({ viewport: PHONE })
  await page.goto(urlOf(live, signed(live)))
  await page.getByRole('button', { name: 'My activity' }).click()
  await page.getByRole('button', { name: 'Something wrong?' }).click()
  const form = page.getByRole('group', { name: 'Ask for help' })
  assert.equal(await form.getByLabel('Which offer?').inputValue(), String(offerId))
  await form.getByLabel('Message').fill('I finished <b>level 9</b>.')
  await form.getByLabel('Screenshot').setInputFiles({ name: 'a.png', mimeType: 'image/png', buffer: PIXEL })
  await form.getByLabel('Email').fill('ann@')
  await form.getByRole('button', { name: 'Send' }).click()
  await page.getByText('Check the email address.').waitFor()
  await form.getByLabel('Email').fill('ann@example.com')
  await checkUsersPage(page)
  await form.getByRole('button', { name: 'Send' }).dblclick()
  await page.getByText('I finished <b>level 9</b>.').waitFor()
  await page.getByRole('button', { name: 'Show image' }).click()
  await page.locator('.messages img').waitFor()
  const tickets = await world.database.db.selectFrom('tickets').selectAll().where('app_id', '=', appId).execute()
  assert.deepEqual(tickets.map(({ offer_id, user_id, kind, email, lang }) => [offer_id, user_id, kind, email, lang]), [[offerId, 'ann', 'not_credited', 'ann@example.com', 'en']]) // prettier-ignore
  const answer = { key: randomUUID(), text: 'We credited it by hand.', hasMail: false }
  await answerTicket(world.database.db, TESTER, appId, tickets[0]?.ticket_id ?? '', answer, new Date())
  await page.getByText('We credited it by hand.').waitFor()
  await page.getByText('Answered').waitFor()
  await checkUsersPage(page)
})
