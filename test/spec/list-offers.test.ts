// Sections 2.4, 4.1 and 8 of the specification: the list's parameters and their limits.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { IssuedCredentials } from '../../src/features/apps/keys.ts'
import { until } from '../installation.ts'
import { useWorld } from '../world.ts'

let live: IssuedCredentials
const world = useWorld('spec_list', async () => {
  live = (await world.createApp()).live
  await world.createOffers(...Array.from({ length: 130 }, (_, i) => ({ name: `Offer ${i}`, payout: `${i}.25` })))
})

async function detailsOf(query: string): Promise<Record<string, string>> {
  const { status, body } = await world.get(`/v1/offers?${query}`, live)
  assert.equal(status, 400, query)
  assert.equal(body.error.code, 'INVALID_REQUEST')
  assert.ok(body.error.details !== null)
  return body.error.details
}

async function ok(query: string) {
  const { status, body } = await world.get(`/v1/offers?${query}`, live)
  assert.equal(status, 200, `${query}: ${JSON.stringify(body.error)}`)
  return body.data
}

test('userId is required', async () => {
  assert.deepEqual(await detailsOf(''), { userId: 'userId is required.' })
})

test('userId has at most 256 characters, counted as code points', async () => {
  await ok(`userId=${'x'.repeat(256)}`)
  await ok(`userId=${encodeURIComponent('😀'.repeat(256))}`)
  assert.deepEqual(await detailsOf(`userId=${'x'.repeat(257)}`), { userId: 'userId must have at most 256 characters.' })
  assert.deepEqual(Object.keys(await detailsOf(`userId=${encodeURIComponent('😀'.repeat(257))}`)), ['userId'])
})

test('an empty or blank userId is refused, on every path that takes one', async () => {
  assert.deepEqual(await detailsOf('userId='), { userId: 'userId must not be empty.' })
  for (const blank of ['+', '%20', '%20%20', '%09%0A', '%C2%A0', '%E3%80%80'])
    assert.deepEqual(await detailsOf(`userId=${blank}`), { userId: 'userId must not be blank.' }, blank)
  for (const path of ['/v1/offers/1', '/v1/offers/1/why', '/v1/conversions']) {
    const { status, body } = await world.get(`${path}?userId=%20`, live)
    assert.deepEqual([status, body.error.details], [400, { userId: 'userId must not be blank.' }], path)
  }
  await ok('userId=%20u%20')
})

test('country is an assigned 2-letter ISO code, in any case', async () => {
  for (const country of ['US', 'us', 'De', 'ax']) await ok(`userId=u&country=${country}`)
  for (const country of ['', 'U', 'XX', 'EU', '12', 'u%20', '%C3%9C%C3%9C', '%C3%9F', 'u%C5%BF', '%EF%AC%81']) {
    assert.deepEqual(await detailsOf(`userId=u&country=${country}`), {
      country: 'country must be a 2-letter ISO 3166-1 country code, such as US.',
    })
  }
  for (const [country, code] of [['UK', 'GB'], ['usa', 'US'], ['germany', 'DE']]) {
    const { country: said } = await detailsOf(`userId=u&country=${country}`)
    assert.equal(said, `country must be a 2-letter ISO 3166-1 country code, such as US. Did you mean ${code}?`)
  } // prettier-ignore
})

test('a required parameter that came by a similar name is pointed out', async () => {
  assert.deepEqual(await detailsOf('user_id=u'), { userId: 'userId is required. You sent user_id.' })
  assert.deepEqual(await detailsOf('UserID=u'), { userId: 'userId is required. You sent UserID.' })
})

test('platform is web, android or ios, in any case; mobile is none of them', async () => {
  for (const platform of ['web', 'android', 'ios', 'WEB', 'Android', 'iOS']) await ok(`userId=u&platform=${platform}`)
  for (const platform of ['mobile', '', 'web,ios']) {
    assert.deepEqual(await detailsOf(`userId=u&platform=${platform}`), {
      platform: 'platform must be one of: web, android, ios.',
    })
  }
})

test('category is survey, app, game or video', async () => {
  for (const category of ['survey', 'app', 'game', 'video']) await ok(`userId=u&category=${category}`)
  assert.deepEqual(await detailsOf('userId=u&category=apps'), {
    category: 'category must be one of: survey, app, game, video.',
  })
})

test('sort is payout_desc, payout_asc, newest or popular', async () => {
  for (const sort of ['payout_desc', 'payout_asc', 'newest', 'popular']) await ok(`userId=u&sort=${sort}`)
  assert.deepEqual(await detailsOf('userId=u&sort=payout'), {
    sort: 'sort must be one of: payout_desc, payout_asc, newest, popular.',
  })
})

test('limit is 20 by default, at least 1 and at most 100', async () => {
  assert.equal((await ok('userId=u')).offers.length, 20)
  assert.equal((await ok('userId=u')).limit, 20)
  assert.equal((await ok('userId=u&limit=1')).offers.length, 1)
  assert.equal((await ok('userId=u&limit=100')).offers.length, 100)
  for (const limit of ['0', '101', '-1', '1.5', '1e1', '0x10', 'ten', '', '%2020', '99999999999999999999']) {
    assert.deepEqual(await detailsOf(`userId=u&limit=${limit}`), {
      limit: 'limit must be a whole number from 1 to 100.',
    })
  }
})

test('offset is 0 by default and not negative; past the end is an empty page', async () => {
  assert.equal((await ok('userId=u')).offset, 0)
  for (const offset of ['130', '999999999999', '9007199254740991']) {
    const past = await ok(`userId=u&offset=${offset}`)
    assert.deepEqual([past.offers, past.total, past.offset, past.has_more], [[], 130, Number(offset), false])
  }
  for (const offset of ['-1', 'x', '1.0', '', '-99999999999999999999']) {
    assert.deepEqual(await detailsOf(`userId=u&offset=${offset}`), {
      offset: 'offset must be a whole number, 0 or more.',
    })
  }
  for (const offset of ['9007199254740992', '9'.repeat(30)]) {
    assert.deepEqual(await detailsOf(`userId=u&offset=${offset}`), {
      offset: 'offset must be at most 9007199254740991.',
    })
  }
})

test('parameters of other ways to page are refused: ignored, they would show the first page again', async () => {
  const advice = 'is not a parameter of this endpoint. To continue, send offset: the number of items to skip.'
  assert.deepEqual(await detailsOf('userId=u&page=2&cursor=x&limit=0'), {
    limit: 'limit must be a whole number from 1 to 100.',
    page: `page ${advice}`,
    cursor: `cursor ${advice}`,
  })
  assert.equal((await ok('userId=u&pages=2&utm_source=x')).offset, 0)
})

test('each sub-ID has at most 45 characters, counted as code points', async () => {
  for (const name of ['aff_sub', 'aff_sub2', 'aff_sub3', 'aff_sub4']) {
    await ok(`userId=u&${name}=${'x'.repeat(45)}`)
    await ok(`userId=u&${name}=${encodeURIComponent('é😀'.repeat(22))}`)
    assert.deepEqual(await detailsOf(`userId=u&${name}=${'x'.repeat(46)}`), {
      [name]: `${name} must have at most 45 characters.`,
    })
  }
})

test('all problems are reported at once, keyed by parameter, each a sentence', async () => {
  const details = await detailsOf(
    'country=XX&platform=mobile&category=x&limit=0&offset=-1&sort=x&aff_sub=' + 'x'.repeat(46),
  )
  assert.deepEqual(Object.keys(details).toSorted(), [
    'aff_sub',
    'category',
    'country',
    'limit',
    'offset',
    'platform',
    'sort',
    'userId',
  ])
  for (const sentence of Object.values(details)) assert.match(sentence, /^[a-z]\w+ (must|is) .*\.$/i)
})

test('a repeated parameter is refused, also when it says the same twice', async () => {
  assert.deepEqual(await detailsOf('userId=a&userId=b'), { userId: 'userId must be sent only once.' })
  assert.deepEqual(await detailsOf('userId=a&limit=5&limit=5'), { limit: 'limit must be sent only once.' })
})

test('unknown parameters are ignored', async () => {
  await ok('userId=u&foo=bar&__proto__=x&constructor=y&toString=z&foo=baz')
})

test('NUL, broken percent-encoding and bytes that are not UTF-8 are refused', async () => {
  assert.deepEqual(await detailsOf('userId=a%00b'), {
    userId: 'userId must not contain NUL or unpaired surrogate characters.',
  })
  for (const broken of ['%', '%zz', '%ED%A0%80', '%C3', '%FF']) {
    assert.deepEqual(await detailsOf(`userId=u&aff_sub=${broken}`), {
      aff_sub: 'aff_sub is not valid percent-encoded UTF-8.',
    })
  }
})

test('reserved characters arrive when URL-encoded: space as %20 or +, & as %26, = as %3D, ? as %3F, # as %23', async () => {
  await ok('userId=reserved&aff_sub=a%20b&aff_sub2=a+b&aff_sub3=%26%3D%3F%23&aff_sub4=%2B')
  const read = () =>
    world.database.db.selectFrom('user_contexts').selectAll().where('user_id', '=', 'reserved').executeTakeFirst()
  await until(async () => (await read()) !== undefined) // on a busy machine it waits in the spool
  const kept = await read()
  assert.ok(kept !== undefined)
  assert.deepEqual([kept.aff_sub, kept.aff_sub2, kept.aff_sub3, kept.aff_sub4], ['a b', 'a b', '&=?#', '+'])
})

test('data has offers, total, limit, offset and has_more', async () => {
  const data = await ok('userId=u&limit=50&offset=100')
  assert.deepEqual(Object.keys(data), ['offers', 'total', 'limit', 'offset', 'has_more'])
  assert.deepEqual([data.offers.length, data.total, data.limit, data.offset, data.has_more], [30, 130, 50, 100, false])
  assert.equal((await ok('userId=u&limit=50&offset=79')).has_more, true)
  assert.equal((await ok('userId=u&limit=50&offset=80')).has_more, false)
})

test('both paths give the same', async () => {
  const [a, b] = await Promise.all(
    ['/api/v1', '/v1'].map((prefix) => world.get(`${prefix}/offers?userId=u&sort=payout_asc`, live)),
  )
  const ids = (reply: typeof a) => reply?.body.data.offers.map((offer) => offer.offer_id)
  assert.deepEqual(ids(a), ids(b))
})
