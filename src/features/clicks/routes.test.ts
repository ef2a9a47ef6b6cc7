// Links: which of them redirect, where to, and what the other pages say.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { BROWSER, SECRET_KEY, useWorld } from '../../../test/world.ts'
import { type IssuedCredentials, revokeApp } from '../apps/keys.ts'
import { createLinkSigner, type LinkContext } from '../offers/links.ts'
import { fillDestination } from './destination.ts'
import { TESTER } from '../../../test/tester.ts'

const DAY_S = 86_400
const POLICY = /^default-src 'none'; style-src 'self'; /

let appId: number
let live: IssuedCredentials
let testMode: IssuedCredentials
let offerId: number
const world = useWorld('links', async () => {
  ;({ appId, live, test: testMode } = await world.createApp())
  ;[offerId = 0] = await world.createOffers({})
})

const signer = createLinkSigner(SECRET_KEY)
const nowS = () => Math.floor(Date.now() / 1000)

function signed(more: Partial<LinkContext> = {}, by = signer): string {
  return by.sign({ appId, isTest: false, issuedAt: nowS(), requestId: 'req_1', userId: 'u', subIds: null, ...more })
}

async function countClicks(): Promise<number> {
  const { rows } = await world.database.pool.query<{ count: number }>('SELECT count(*) AS count FROM clicks')
  return rows[0]?.count ?? 0
}

const clicksOf = (userId: string) =>
  world.database.db.selectFrom('clicks').selectAll().where('user_id', '=', userId).orderBy('click_id').execute()

/** Follows a link that must not redirect, and checks that the page is plain and leaves no trace. */
async function refused(path: string, status: number, title: RegExp, headers: object = {}): Promise<void> {
  const before = await countClicks()
  const answer = await world.follow(path, headers)
  const about = path.slice(0, 80)
  assert.equal(answer.status, status, about)
  assert.match(answer.text, title, about)
  assert.equal(answer.headers['content-type'], 'text/html; charset=utf-8', about)
  assert.match(String(answer.headers['content-security-policy']), POLICY)
  assert.equal(answer.headers['cache-control'], 'no-store')
  assert.equal(answer.headers['referrer-policy'], 'no-referrer')
  assert.equal(answer.headers['x-content-type-options'], 'nosniff')
  assert.equal(answer.location, '')
  assert.doesNotMatch(answer.text, /\bat \w+.*:\d+|Error:|node_modules|<script/)
  assert.equal(await countClicks(), before, about)
}

const BROKEN = /<h1>This link does not work<\/h1>/

test('a token changed anywhere is not one of ours', async () => {
  const token = signed({ userId: 'someone else', subIds: ['a', null, null, null] })
  for (let i = 0; i < token.length; i++) {
    const changed = token.slice(0, i) + (token[i] === 'A' ? 'B' : 'A') + token.slice(i + 1)
    await refused(`/c/${offerId}/${changed}`, 404, BROKEN)
  }
  for (const changed of [token.slice(0, -1), `${token}A`, token.slice(1), `${token}:`, token.toUpperCase()])
    await refused(`/c/${offerId}/${changed}`, 404, BROKEN)
})

test('a token of another key, or for an app that there is not, is not one of ours', async () => {
  await refused(`/c/${offerId}/${signed({}, createLinkSigner(`${SECRET_KEY}!`))}`, 404, BROKEN)
  await refused(`/c/${offerId}/${signed({ appId: 999_999 })}`, 404, BROKEN)
})

test('garbage in place of an offer or a token gets the same page', async () => {
  const token = signed()
  for (const id of ['1e3', '-1', '0', '+1', '1.0', '0x1', '%20', '%00', `${10n ** 20n}`, '9007199254740993', 'NaN', '%E2%85%A0', 'abc'])
    await refused(`/c/${id}/${token}`, 404, BROKEN) // prettier-ignore
  const emoji = encodeURIComponent('😀')
  for (const rest of ['', ':', '::::::', '1:1:l:1:r:u:', emoji, `${emoji}:${emoji}`, '..%2f..%2fetc', '%3Cscript%3E', 'a'.repeat(8000)])
    await refused(`/c/${offerId}/${rest}`, 404, BROKEN) // prettier-ignore
})

test('a link that was cut short, or grew on the way, gets the page, too', async () => {
  const token = signed()
  for (const path of ['/c/', `/c/${offerId}`, `/c/${offerId}/${token}/`, `/c/${offerId}/${token}/x`, `/c/${offerId}//${token}`])
    await refused(path, 404, BROKEN) // prettier-ignore
})

test('what is not even a valid URL gets the page as well', async () => {
  for (const path of [`/c/${offerId}/%zz`, `/c/%zz/${signed()}`, '/c/1/%E0%A4%A', `/c/1/${'a'.repeat(9000)}`])
    await refused(path, 404, BROKEN)
  const elsewhere = await world.follow('//evil.example/c/1')
  assert.deepEqual([elsewhere.status, elsewhere.location], [404, ''])
})

test('a link is valid for seven days, to the second', async () => {
  const fresh = await world.follow(`/c/${offerId}/${signed({ issuedAt: nowS() - 7 * DAY_S + 5 })}`)
  assert.equal(fresh.status, 302)
  await refused(`/c/${offerId}/${signed({ issuedAt: nowS() - 7 * DAY_S - 1 })}`, 410, /<h1>This link has expired<\/h1>/)
  await refused(`/c/${offerId}/${signed({ issuedAt: nowS() - 400 * DAY_S })}`, 410, /<h1>This link has expired<\/h1>/)
})

test('an offer that there is not is a broken link; the links of a revoked app have ended', async () => {
  await refused(`/c/999999999/${signed()}`, 404, BROKEN)
  const gone = await world.createApp()
  const { body } = await world.get(`/v1/offers/${offerId}?userId=u`, gone.live)
  await revokeApp(world.database.db, TESTER, gone.appId)
  await world.app.refresh()
  await refused(body.data.offer.link, 410, /<h1>This offer has ended<\/h1>/)
})

test('the token of a response is valid for every offer that its user may do, and for no other', async () => {
  const [other = 0, paused = 0] = await world.createOffers({}, { status: 'paused' })
  const token = signed({ userId: 'swapper' })
  assert.equal((await world.follow(`/c/${other}/${token}`)).status, 302)
  await refused(`/c/${paused}/${token}`, 410, /<h1>This offer has ended<\/h1>/)
})

test('a click is recorded with all that is known of it before the user is sent on', async () => {
  const [terms = 0] = await world.createOffers({ payout: '2' })
  const query = 'userId=ann&aff_sub=1&aff_sub2=two%20words&aff_sub4=%F0%9F%98%80'
  const list = await world.get(`/v1/offers/${terms}?${query}`, live)
  const startedMs = Date.now()
  const click = await world.follow(list.body.data.offer.link, { 'user-agent': BROWSER })
  assert.equal(click.status, 302)
  assert.equal(click.headers['cache-control'], 'no-store')
  assert.equal(click.headers['referrer-policy'], 'no-referrer')
  assert.equal(click.headers['x-request-id'], `click_${click.clickId}`)
  const [row, ...more] = await clicksOf('ann')
  assert.deepEqual(more, [])
  assert.ok(row !== undefined)
  const { terms_id } = await world.database.db.selectFrom('offers').select('terms_id').where('offer_id', '=', terms).executeTakeFirstOrThrow() // prettier-ignore
  const { clicked_at, click_no, ...facts } = row
  assert.ok(click_no !== null && click_no > 0)
  assert.ok(clicked_at.getTime() >= startedMs && clicked_at.getTime() <= Date.now())
  assert.deepEqual(facts, {
    click_id: click.clickId,
    app_id: appId,
    is_test: false,
    user_id: 'ann',
    offer_id: terms,
    terms_id,
    currency: 'Coins',
    rate_micros: 100_000_000,
    share_ppm: null,
    request_id: list.body.meta.request_id,
    aff_sub: '1',
    aff_sub2: 'two words',
    aff_sub3: null,
    aff_sub4: '😀',
    ip: '127.0.0.1',
    country: null,
    device: 'desktop',
    os: 'linux',
    signals: null,
    rounding: null,
    multiplier_ppm: null,
    locker_id: null,
  })
})

test('every macro of a destination is filled, and what is not known is empty', async () => {
  const macros = ['click_id', 'offer_id', 'app_id', 'country', 'device', 'os', 'aff_sub', 'aff_sub2', 'aff_sub3', 'aff_sub4', 'timestamp'] // prettier-ignore
  const [id = 0] = await world.createOffers({
    destination_url: `https://ads.example.com/go?c={click_id}&${macros.map((name) => `${name}={${name}}`).join('&')}#{click_id}`,
  })
  const { location, clickId } = await world.click(id, live, 'userId=macros&aff_sub=a%26b%3Dc%23d%3Fe&aff_sub3=..%2F%22')
  const found = Object.fromEntries(new URL(location).searchParams)
  const { timestamp, ...rest } = found
  assert.ok(Math.abs(Number(timestamp) - nowS()) < 60)
  assert.deepEqual(rest, {
    c: clickId, click_id: clickId, offer_id: String(id), app_id: String(appId), country: '', device: 'desktop', os: 'linux',
    aff_sub: 'a&b=c#d?e', aff_sub2: '', aff_sub3: '../"', aff_sub4: '',
  }) // prettier-ignore
  assert.ok(location.endsWith(`#${clickId}`))
})

test('no value can break out of its place, whatever is in it', async () => {
  const [id = 0] = await world.createOffers({ destination_url: 'https://ads.example.com/x/{aff_sub}/y?c={click_id}&s={aff_sub}&t=1' }) // prettier-ignore
  const nasty = ['&t=2', 'a b+c', '#', '?', '%0d%0aSet-Cookie: a=b', '\r\nSet-Cookie: a=b', "'\"<>()!*", '../../', '@evil.example', '//evil.example', '\\', 'é', '日本', '😀', '%00', '{click_id}', '$&$1'] // prettier-ignore
  for (const text of nasty) {
    const { location, headers } = await world.click(id, live, `userId=nasty&aff_sub=${encodeURIComponent(text)}`)
    const url = new URL(location)
    assert.match(
      location,
      /^[\w.~:/?=&%-]+$/,
      'only what RFC 3986 leaves unreserved, and the marks of the address itself',
    )
    assert.equal(url.origin, 'https://ads.example.com')
    assert.deepEqual(url.pathname.split('/').map(decodeURIComponent), ['', 'x', text, 'y'])
    assert.deepEqual([url.searchParams.get('s'), url.searchParams.getAll('t'), url.hash], [text, ['1'], ''])
    assert.equal(headers['set-cookie'], undefined)
  }
})

test('any text comes out of a destination as it went in', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 60 }), (text) => {
      const filled = fillDestination('https://ads.example.com/{a}/?q={a}&z=1', { a: text })
      assert.match(filled, /^[!-~]+$/)
      assert.deepEqual([...new URL(filled).searchParams], [['q', text], ['z', '1']]) // prettier-ignore
    }),
  )
})

test('a destination with letters beyond ASCII is reached; names that everything inherits are no macros', async () => {
  const [id = 0] = await world.createOffers({ destination_url: 'https://müller.example/日本?c={click_id}&s={aff_sub}' })
  const { status, location, clickId } = await world.click(id, live, 'userId=letters&aff_sub=%26')
  assert.equal(status, 302)
  assert.equal(location, `https://xn--mller-kva.example/%E6%97%A5%E6%9C%AC?c=${clickId}&s=%26`)
  assert.equal(fillDestination('https://a.example/?{constructor}', {}), 'https://a.example/?')
})

test('the longest link there can be works, and so does one that others added parameters to', async () => {
  const userId = '😀'.repeat(256)
  const subIds = [1, 2, 3, 4].map((i) => `aff_sub${i === 1 ? '' : i}=${encodeURIComponent('漢'.repeat(45))}`).join('&')
  const { body } = await world.get(`/v1/offers/${offerId}?userId=${encodeURIComponent(userId)}&${subIds}`, live)
  assert.equal((await world.follow(`${body.data.offer.link}?fbclid=x&utm_source=%zz`)).status, 302)
  assert.equal((await clicksOf(userId))[0]?.aff_sub4, '漢'.repeat(45))
})

test('a HEAD request or a prefetch is not a click', async () => {
  const path = `/c/${offerId}/${signed({ userId: 'looker' })}`
  const head = await world.app.server.inject({ method: 'HEAD', url: path, headers: { 'user-agent': BROWSER } })
  assert.deepEqual(
    [head.statusCode, head.headers['cache-control'], head.headers.location],
    [200, 'no-store', undefined],
  )
  for (const headers of [{ 'sec-purpose': 'prefetch' }, { 'sec-purpose': 'prefetch;prerender' }, { purpose: 'prefetch' }, { 'x-moz': 'prefetch' }, { 'x-purpose': 'preview' }]) {
    const ahead = await world.follow(path, headers)
    assert.deepEqual([ahead.status, ahead.headers['cache-control'], ahead.location], [503, 'no-store', ''])
  } // prettier-ignore
  assert.deepEqual(await clicksOf('looker'), [])
  const gone = await world.app.server.inject({ method: 'HEAD', url: `/c/${offerId}/x` })
  assert.deepEqual([gone.statusCode, gone.body], [404, ''])
})

test('a suspected bot is recorded, marked and sent on', async () => {
  const path = `/c/${offerId}/${signed({ userId: 'robot' })}`
  for (const agent of ['Googlebot/2.1 (+http://www.google.com/bot.html)', 'curl/8.5.0', ''])
    assert.equal((await world.follow(path, { 'user-agent': agent })).status, 302)
  assert.deepEqual((await clicksOf('robot')).map((row) => row.signals), [['bot'], ['bot'], ['bot']]) // prettier-ignore
})

test('a click with test credentials is a test', async () => {
  await world.click(offerId, testMode, 'userId=tester')
  assert.deepEqual((await clicksOf('tester')).map((row) => row.is_test), [true]) // prettier-ignore
})

test('a sub-ID of dots stays where it stands in the path of a destination', async () => {
  const climbing = ['.', '..', '%2e', '%2E.', '..%2f', '../..', '..\\']
  for (const template of [
    'https://ads.example.com/a/{aff_sub}/b?x={aff_sub}',
    'https://ads.example.com/a/{aff_sub}',
    'https://ads.example.com/a\\{aff_sub}\\b/../c#{aff_sub}',
    'https://ads.example.com/ä/.{aff_sub}{aff_sub}/b',
  ]) {
    const folders = (text: string) => new URL(text).pathname.split('/').length
    const expected = folders(fillDestination(template, { aff_sub: 'x' }))
    for (const aff_sub of climbing)
      assert.equal(folders(fillDestination(template, { aff_sub })), expected, `${template} ${aff_sub}`)
  }
  const filled = fillDestination('https://ads.example.com/a/{aff_sub}/b?x={aff_sub}', { aff_sub: '..' })
  assert.equal(filled, 'https://ads.example.com/a/%252E%252E/b?x=..')
})

test('what happened is said in the language of the browser, where we have it', async () => {
  const ask = async (language: string) => {
    const headers = { 'user-agent': BROWSER, 'accept-language': language }
    const { body } = await world.app.server.inject({
      url: `/c/${offerId}/${signed({ issuedAt: nowS() - 8 * DAY_S })}`,
      headers,
    })
    return [/<html [^>]*>/.exec(body)?.[0], /<h1>(.*)<\/h1>/.exec(body)?.[1]]
  }
  assert.deepEqual(await ask('de-AT,en;q=0.5'), ['<html lang="de" dir="ltr">', 'Dieser Link ist zu alt'])
  assert.deepEqual(await ask('ar'), ['<html lang="ar" dir="rtl">', 'هذا الرابط قديم جدًا'])
  assert.deepEqual(await ask('xx'), ['<html lang="en" dir="ltr">', 'This link has expired'])
})
