import assert from 'node:assert/strict'
import { test } from 'node:test'
import Fastify from 'fastify'
import { countryPlace } from '../../lib/countries.ts'
import { parseUsd } from '../../lib/money.ts'
import { DEMO_ADVERTISERS, demoOffer, demoOffers } from './demo.ts'
import { describeProblems, readImportRecord } from './import-record.ts'
import { pictureRoutes } from './pictures.ts'

const FIRST = demoOffers(200)
const MANY = demoOffers(5_000)

test('the first 200 demo offers cover every category and platform and at least 40 countries', () => {
  const categories = new Set(FIRST.map(({ category }) => category))
  assert.deepEqual([...categories].toSorted(), ['app', 'game', 'survey', 'video'])
  const platforms = new Set(FIRST.flatMap((offer) => offer.platforms))
  assert.deepEqual([...platforms].toSorted(), ['android', 'ios', 'web'])
  const countries = new Set(FIRST.flatMap((offer) => offer.countries))
  assert.ok(countries.size >= 40, `only ${countries.size} countries`)
  for (const code of countries) assert.notEqual(countryPlace(code), undefined, code)
})

test('the first 200 demo offers have distinct names, some of them beyond ASCII', () => {
  assert.equal(new Set(FIRST.map(({ name }) => name)).size, FIRST.length)
  for (const letter of ['é', 'ü', 'つ'])
    assert.ok(
      FIRST.some(({ name }) => name.includes(letter)),
      letter,
    )
})

test('about one demo offer in seven is for everywhere and one in twelve asks for a payment', () => {
  const share = (some: unknown[]) => some.length / MANY.length
  const everywhere = share(MANY.filter(({ countries }) => countries.length === 0))
  assert.ok(everywhere > 0.12 && everywhere < 0.18, `${everywhere} are for everywhere`)
  const paid = share(MANY.filter((offer) => offer.payment_required))
  assert.ok(paid > 0.06 && paid < 0.1, `${paid} ask for a payment`)
})

test('the payout of a demo offer is the sum over its goals, and the revenue is more', () => {
  for (const { external_id, payout, revenue, goals } of MANY) {
    const sum = (amounts: number[]) => amounts.reduce((total, amount) => total + micros(amount), 0)
    assert.equal(micros(payout), sum(goals.map((goal) => goal.payout)), external_id)
    assert.equal(micros(revenue), sum(goals.map((goal) => goal.revenue)), external_id)
    assert.ok(
      goals.every((goal) => goal.payout > 0 && goal.revenue > goal.payout),
      external_id,
    )
  }
})

test('the payout of a demo offer is usual for its category', () => {
  const usual = { survey: [0.3, 3.5], video: [0.02, 0.4], app: [0.4, 8], game: [1, 120] } as const
  for (const { external_id, category, payout } of MANY) {
    const [least, most] = usual[category]
    assert.ok(payout >= least && payout <= most, `${external_id} pays ${payout}`)
  }
})

test('a demo offer is a record that an import accepts', () => {
  for (const offer of [...MANY, demoOffer(1_000_000)]) {
    const read = readImportRecord(offer)
    assert.ok('offer' in read, `${offer.external_id}: ${'problems' in read ? describeProblems(read.problems) : ''}`)
    assert.ok(DEMO_ADVERTISERS.includes(offer.advertiser))
    assert.ok(offer.goals.length >= 1 && offer.goals.length <= 4)
    assert.ok(offer.destination_url.includes('{click_id}'))
  }
})

test('the same number gives the same demo offer, and another number another one', () => {
  for (const n of [0, 17, 199, 4_999]) assert.deepEqual(demoOffer(n), MANY[n] ?? null)
  assert.equal(new Set(MANY.map(({ external_id }) => external_id)).size, MANY.length)
  assert.equal(new Set(MANY.map(({ name }) => name)).size, MANY.length)
})

test('the picture of every demo offer is served as well-formed SVG that other sites may show', async () => {
  const server = Fastify()
  pictureRoutes(server)
  for (const url of new Set(MANY.map(({ image_url }) => image_url))) {
    const reply = await server.inject(url)
    assert.equal(reply.statusCode, 200, url)
    assert.match(String(reply.headers['content-type']), /^image\/svg\+xml/)
    assert.equal(reply.headers['cross-origin-resource-policy'], 'cross-origin')
    assert.equal(reply.headers['x-content-type-options'], 'nosniff')
    assertWellFormed(reply.body, url)
  }
  await server.close()
})

test('a picture with a bad name does not exist', async () => {
  const server = Fastify()
  pictureRoutes(server)
  const bad = [
    'game-.svg',
    'other-1.svg',
    'game-1.png',
    'game-A.svg',
    'game-%3Cb%3E.svg',
    '..%2Fgame-1.svg',
    `app-${'x'.repeat(61)}.svg`,
  ]
  for (const file of bad) {
    const reply = await server.inject(`/pictures/${file}`)
    assert.notEqual(reply.statusCode, 200, file)
  }
  await server.close()
})

function micros(usd: number): number {
  const amount = parseUsd(usd)
  assert.ok(amount !== null, `${usd} has more than four decimals`)
  return amount
}

/** Every tag is one that XML allows and closes what was opened last; nothing but white space stands between tags. */
function assertWellFormed(svg: string, url: string): void {
  assert.ok(svg.startsWith('<svg xmlns="http://www.w3.org/2000/svg"'), url)
  assert.doesNotMatch(svg, /<script|href|NaN|undefined|CUT/, url)
  const open: string[] = []
  const between = svg.replaceAll(
    /<(\/?)([a-zA-Z]+)((?:\s+[a-z-]+\d?="[^"<&]*"|\s+[a-zA-Z]+="[^"<&]*")*)\s*(\/?)>/g,
    (_, end, name, given, empty) => {
      const names = [...String(given).matchAll(/([\w-]+)=/g)].map(([, attribute]) => attribute)
      assert.equal(new Set(names).size, names.length, `${url} repeats an attribute of ${name}`)
      if (end === '/') assert.equal(open.pop(), name, url)
      else if (empty !== '/') open.push(String(name))
      return ''
    },
  )
  assert.equal(between.trim(), '', url)
  assert.deepEqual(open, [], url)
}
