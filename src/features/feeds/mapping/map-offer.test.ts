// Offers of the twelve upstreams that are known, as their documentation and clients have them.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { projectPath } from '../../../lib/project.ts'
import { PRESETS, presetOf } from '../presets/presets.ts'
import { type Mapped, mapOffer } from './map-offer.ts'
import { eachOf, readAll } from './paths.ts'

const SAMPLES = JSON.parse(readFileSync(projectPath('test/upstreams/samples.json'), 'utf8')) as Record<string, unknown>

function mapSample(upstream: string): Mapped[] {
  const { mapping } = presetOf(upstream)!
  return eachOf(readAll(mapping.offers, SAMPLES[upstream])[0]).flatMap((item) => mapOffer(mapping, item))
}

/** What matters of it: ID, link, amounts by goal, where it runs. */
function brief(mapped: Mapped) {
  if ('skipped' in mapped) return [mapped.id, mapped.skipped]
  const { external_id, currency, goals, record } = mapped.offer
  const steps = goals.map((goal) => `${goal.external_id}|${goal.name}|${goal.micros / 1_000_000}${goal.is_optional ? '?' : ''}`) // prettier-ignore
  return [external_id, record['name'], currency, steps.join(' '), [record['countries']].flat().join(), [record['platforms'] ?? 'all'].flat().join(), record['category'], record['destination_url']] // prettier-ignore
}

const EXPECTED: Record<string, unknown[][]> = {
  everflow: [
    ['71', 'Pinefort', 'USD', '9|Base|0.4 10|Level 5|2.1?', 'CA', 'ios', 'game', 'https://t.test/A/B/?sub1={click_id}'],
    ['72', 'it has no link: the upstream has not approved it for you'],
  ],
  tune: [
    ['310', 'Quill', '', '|Complete|1.25 4|Trial|3?', 'CA', 'all', 'app', 'https://t.test/aff_c?offer_id=310&aff_click_id={click_id}'],
    ['311', 'it has no link: the upstream has not approved it for you'],
  ],
  affise: [
    ['5', 'Lumo', 'USD', '1|Install|0.7 2|Buy|4', 'GB', 'android', 'app', 'https://t.test/click?pid=3&offer_id=5&sub1={click_id}'],
    ['6', 'its payout is not a fixed amount'],
  ],
  trackier: [
    ['18:FR', 'Hopla', '', '|Complete|0.55 reg|Register|1.1?', 'FR', 'android', 'game', 'https://t.test/x?p1={click_id}'],
    ['18:BE', 'Hopla', '', '|Complete|0.4 reg|Register|1.1?', 'BE', 'android', 'game', 'https://t.test/x?p1={click_id}'],
    ['19', 'its payout is not a fixed amount'],
  ],
  offer18: [
    ['00041', 'Zeta', 'USD', '|Complete|1.5 dep|Deposit|6?', 'IN,US', 'android', 'game', 'https://t.test/c?o=41&aff_click_id={click_id}'],
    ['00042', 'it has no link: the upstream has not approved it for you'],
  ],
  adgate: [
    ['900', 'Moss & Co', '', '1|Install|0 2|Level 3|1.8', 'US', 'android', 'game', 'https://t.test/900?s1={click_id}'],
    ['901', 'it has no link: the upstream has not approved it for you'],
  ],
  ayet: [
    ['61', 'Tidal', '', 'u1|Level 20|4 u2|X|0.5?', 'DE', 'ios', 'app', 'https://t.test/61?u={click_id}'],
    ['62', 'it has no link: the upstream has not approved it for you'],
  ],
  adgem: [
    ['9007199254740993123', 'Fable', '', '|Complete|2.2', 'ES', 'android', 'app', 'https://t.test/?playerid={click_id}'],
    ['9007199254740993124', 'it has no link: the upstream has not approved it for you'],
  ],
  cpalead: [
    ['12', 'Win', 'USD', '|Complete|0.75', 'US', 'android', 'app', 'https://t.test/?id=12&subid={click_id}'],
    ['13', 'it has no link: the upstream has not approved it for you'],
  ],
  lootably: [
    ['77-a', 'Orbit', '', 'g1|Level 2|0.2', 'AU', 'ios', 'game', 'https://t.test/?u={click_id}'],
    ['78', 'its payout is not a fixed amount'],
  ],
  torox: [
    ['501', 'Rook', '', '#e4fc20a0f69a|3 wins|2.4', 'US', 'android', 'app', 'https://t.test/{click_id}'],
    ['502', 'it has no link: the upstream has not approved it for you'],
  ],
} // prettier-ignore

for (const [upstream, expected] of Object.entries(EXPECTED)) {
  test(`offers of ${upstream} are read`, () => {
    assert.deepEqual(mapSample(upstream).map(brief), expected)
  })
}

test('caps, dates, texts, difficulty and times are read as each upstream writes them', () => {
  const recordOf = (upstream: string) => {
    const [first] = mapSample(upstream)
    assert.ok(first !== undefined && 'offer' in first)
    return first.offer.record
  }
  assert.partialDeepStrictEqual(recordOf('everflow'), { description: 'A & B', daily_conversion_cap: 40, ends_at: null })
  assert.partialDeepStrictEqual(recordOf('tune'), { ends_at: '2031-01-31T00:00:00.000Z', image_url: 'https://i.test/3' }) // prettier-ignore
  assert.ok(!('daily_conversion_cap' in recordOf('tune')), 'a cap of 0 is none')
  assert.partialDeepStrictEqual(recordOf('affise'), { description: 'Install', requirements: 'New users', daily_conversion_cap: 25 }) // prettier-ignore
  assert.partialDeepStrictEqual(recordOf('trackier'), { total_conversion_cap: 900 })
  assert.partialDeepStrictEqual(recordOf('offer18'), { ends_at: '2031-02-01T00:00:00.000Z', daily_conversion_cap: 60 })
  assert.partialDeepStrictEqual(recordOf('adgate'), { requirements: 'Reach 3', image_url: 'https://i.test/9' })
  assert.partialDeepStrictEqual(recordOf('ayet'), { requirements: 'Reach 20', time_estimate: '1 day', difficulty: 'medium' }) // prettier-ignore
  assert.partialDeepStrictEqual(recordOf('adgem'), { requirements: 'Install\nReach 5' })
  assert.partialDeepStrictEqual(recordOf('torox'), { image_url: 'https://i.test/r', requirements: 'Win 3' })
})

const { mapping: LOOTABLY } = presetOf('lootably')!
const item = (change: object) => ({ type: 'singlestep', offerID: '1', name: 'Orbit', countries: ['US'], devices: ['android'], revenue: 1, link: 'https://t.test/?u={userID}', ...change }) // prettier-ignore
const mapItem = (change: object, more: Partial<typeof LOOTABLY> = {}) =>
  mapOffer({ ...LOOTABLY, ...more }, item(change))[0]!

test('an amount that says its currency is in that one; one that contradicts the offer is left out', () => {
  const read = (change: object) => {
    const mapped = mapItem(change, { currency: 'currency' })
    return 'skipped' in mapped ? mapped.skipped : [mapped.offer.currency, mapped.offer.goals.map(({ micros }) => micros / 1_000_000)] // prettier-ignore
  }
  const steps = (...revenues: unknown[]) => ({ type: 'multistep', goals: revenues.map((revenue, i) => ({ goalID: `g${i}`, description: `Step ${i}`, revenue })) }) // prettier-ignore
  assert.deepEqual(read({ revenue: '€5.00' }), ['EUR', [5]])
  assert.deepEqual(read({ revenue: '1,050.5 gbp' }), ['GBP', [1050.5]])
  assert.deepEqual(read({ revenue: '$5', currency: 'aud' }), ['AUD', [5]])
  assert.deepEqual(read({ revenue: '€5', currency: 'EUR' }), ['EUR', [5]])
  assert.equal(read({ revenue: '€5', currency: 'USD' }), 'its payouts are in several currencies: USD, EUR')
  assert.deepEqual(read(steps('€5', 2)), ['EUR', [5, 2]])
  assert.equal(read(steps('€5', 'US$2')), 'its payouts are in several currencies: EUR, USD')
  assert.equal(read({ revenue: '-€5' }), 'the payout "-€5" is not an amount')
})

test('one offer with broken or endless texts is read in time, as far as it can be', () => {
  const html = { description: { path: 'description', html: true } }
  const textOf = (description: string) => {
    const mapped = mapItem({ description }, html)
    return 'offer' in mapped ? mapped.offer.record['description'] : mapped.skipped
  }
  assert.equal(textOf('<a'.repeat(1_000_000)), '<a'.repeat(5_000))
  assert.equal(textOf('<script>'.repeat(200_000)), '')
  assert.equal(textOf(`Fly <b class="x">high</b><style>${'<'.repeat(500_000)}`), 'Fly high')
  assert.equal(textOf(`${'x'.repeat(9_999)}😀`), 'x'.repeat(9_999))
  assert.equal(textOf('a\0b'), 'ab')
  assert.equal(mapItem({ name: `${'x'.repeat(299)}😀` }).name, 'x'.repeat(299))
  const goals = Array.from({ length: 20_000 }, (_, i) => ({ goalID: `g${i}`, description: 'Level', revenue: 1 }))
  assert.partialDeepStrictEqual(mapItem({ type: 'multistep', goals }), { skipped: 'it has more than 50 goals' })
})

test('offers with several goals are left out where callbacks do not say which one was reached', () => {
  const { mapping } = presetOf('torox')!
  const offer = (...payouts: string[]) => ({ offer_id: 1, offer_name: 'Rook', countries: ['US'], payout: '9', offer_url: 'https://t.test/[USER_ID]', events: payouts.map((payout) => ({ event_name: `Pays ${payout}`, payout })) }) // prettier-ignore
  const [one] = mapOffer(mapping, offer('2.40'))
  assert.ok(one !== undefined && 'offer' in one)
  const [several] = mapOffer(mapping, offer('0.10', '20'))
  assert.match(
    several !== undefined && 'skipped' in several ? several.skipped : '',
    /callbacks of this network do not say/,
  )
})

test('every preset with several goals says in its callback which one was reached', () => {
  for (const { key, mapping, back } of PRESETS)
    assert.ok(mapping.goals === undefined || mapping.goals.only_one === true || 'goal' in back.parameters, key)
})

test('an offer for some countries never runs in all because its list is written otherwise', () => {
  const lootably = presetOf('lootably')!.mapping
  const plain = { type: 'singlestep', offerID: '1', name: 'A', revenue: 1, link: 'https://t.test/?u={userID}' }
  const where = (countries: unknown, mapping = lootably) => {
    const [mapped] = mapOffer(mapping, { ...plain, countries })
    return mapped !== undefined && 'offer' in mapped ? mapped.offer.record['countries'] : mapped?.skipped
  }
  for (const none of [[], null, undefined, '', {}, [null], ['ALL'], 'all']) assert.deepEqual(where(none), [])
  for (const one of [['us'], 'US', ['usa'], { a: 'US' }]) assert.deepEqual(where(one), ['US'])
  for (const unread of ['US,DE', [['US']], [{ code: 'US' }], 5]) assert.match(String(where(unread)), /^its country .+ is not an ISO 3166-1 code$/) // prettier-ignore
  const excluding = { ...lootably, countries: { exclude: 'countries[]' } }
  assert.equal((where('US', excluding) as string[]).includes('US'), false)
  assert.match(String(where([['US']], excluding)), /its country \?/)
})

test('an offer that is paid by more countries than there are is left out, in no time', () => {
  const { mapping } = presetOf('affise')!
  const payments = Array.from({ length: 100_000 }, (_, i) => ({ goal: '1', title: 'A', revenue: 1, currency: 'USD', type: 'fixed', countries: [`Q${i}`] })) // prettier-ignore
  const mapped = mapOffer(mapping, { id: 1, title: 'A', link: 'https://t.test/?p=3', payments })
  assert.deepEqual(mapped, [{ id: '1', name: 'A', skipped: 'it has more than 249 payouts by country' }])
})

test('texts have no control characters, however they are written', () => {
  const { mapping } = presetOf('lootably')!
  const [mapped] = mapOffer(mapping, { offerID: '1', name: 'a\u0000\u001b[31mb&#155;c\u009bd', description: 'One\ntwo\u0007' }) // prettier-ignore
  assert.equal(mapped?.name, 'a[31mbcd')
})

test('names have nothing that turns the direction of what follows them', () => {
  assert.equal(mapItem({ name: 'Win \u202e05$ \u2066now\u2069' }).name, 'Win 05$ now')
})

test('Everflow: a plain text keeps its lines and what looks like a tag', () => {
  const { mapping } = presetOf('everflow')!
  const textOf = (more: object) => {
    const [mapped] = mapOffer(mapping, { network_offer_id: 1, name: 'A', tracking_url: 'https://t.test/A', html_description: 'One\n\na <b y> c', relationship: { payouts: { entries: [{ network_offer_payout_revenue_id: 1, is_default: true, payout_amount: 1 }] } }, ...more }) // prettier-ignore
    return mapped !== undefined && 'offer' in mapped ? mapped.offer.record['description'] : mapped?.skipped
  }
  assert.equal(textOf({ is_description_plain_text: true }), 'One\n\na <b y> c')
  assert.equal(textOf({ is_description_plain_text: false }), 'One a  c')
})

test('a parameter is set in a link, and the rest of it stays byte for byte', () => {
  const { mapping } = presetOf('cpalead')!
  const linkOf = (link: string) => {
    const [mapped] = mapOffer(mapping, { id: 1, title: 'A', amount: 1, link })
    return mapped !== undefined && 'offer' in mapped ? mapped.offer.record['destination_url'] : mapped?.skipped
  }
  assert.equal(
    linkOf('https://t.test/x?a=%20b&flag&c=1|2#top'),
    'https://t.test/x?a=%20b&flag&c=1|2&subid={click_id}#top',
  )
  assert.equal(linkOf('https://t.test/x?subid=&a={your-sub-aff}&subid=7'), 'https://t.test/x?subid={click_id}&a={your-sub-aff}') // prettier-ignore
  assert.equal(linkOf('https://t.test'), 'https://t.test?subid={click_id}')
  for (const link of ['https://t.test/x?', 'https://t.test/x']) assert.equal(linkOf(link), 'https://t.test/x?subid={click_id}') // prettier-ignore
})
