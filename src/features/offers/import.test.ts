// What an import does with rows: with their fields, and with existing offers.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { asCsv, asJson, FORMATS, FULL_CELLS, write } from '../../../test/offer-files.ts'
import { counts, row, useImports } from '../../../test/offer-imports.ts'

const { world, bring, offerOf, isKnown } = useImports('import')

const goalsOf = (offerId: number) =>
  world.database.db.selectFrom('goals').selectAll().where('offer_id', '=', offerId).orderBy('place').execute()

const stamps = () =>
  world.database.db.selectFrom('offers').select(['offer_id', 'updated_at', 'changed_xid']).orderBy('offer_id').execute()

const step = (name: string, payout: number, more = {}) => ({ name, payout, ...more })

for (const format of FORMATS) {
  test(`every field of a ${format} row is taken`, async () => {
    const full = { ...row(), ...FULL_CELLS }
    counts(await bring(`full.${format}`, write(format, [full])), { rows: 1, created: 1 })
    const offer = await offerOf(full.external_id)
    assert.partialDeepStrictEqual(offer, {
      name: full.name,
      description: full.description,
      category: 'game',
      payout_micros: 3_500_000,
      revenue_micros: 5_000_000,
      countries: ['DE', 'US'],
      platforms: ['android', 'ios'],
      destination_url: full.destination_url,
      image_url: '/pictures/game-1.svg',
      difficulty: 'hard',
      time_estimate: '5-10 minutes',
      language: 'de',
      requirements: 'New users only',
      translations: '{"de":{"requirements":"Nur neue Nutzer"},"fr":{"name":"Œuvre"}}',
      payment_required: true,
      conversion_type: 'cpe',
      status: 'paused',
      starts_at: new Date('2026-01-01T00:00:00Z'),
      ends_at: new Date('2026-12-31T22:59:59Z'),
    })
    const goals = (await goalsOf(offer.offer_id)).map(({ name, description, payout_micros, revenue_micros, is_optional, translations }) => [name, description, payout_micros, revenue_micros, is_optional, translations]) // prettier-ignore
    assert.deepEqual(goals, [
      ['Install', 'Open it', 500_000, 1_000_000, false, '{"pl":{"name":"Zainstaluj"}}'],
      ['Level 9', '', 3_000_000, 4_000_000, true, ''],
    ])
  })

  test(`importing a ${format} file again changes nothing, and a changed row changes one offer`, async () => {
    const rows = Array.from({ length: 600 }, (_, i) =>
      row({ goals: [step('One', 1), step('Two', 0.25 + i)], payout: '' }),
    )
    counts(await bring(`again.${format}`, write(format, rows)), { rows: 600, created: 600 })
    const first = await stamps()
    counts(await bring(`again.${format}`, write(format, rows)), { rows: 600, unchanged: 600 })
    assert.deepEqual(await stamps(), first)
    const changed = rows.map((one, i) => (i === 550 ? { ...one, name: 'Another name' } : one))
    counts(await bring(`again.${format}`, write(format, changed)), { rows: 600, updated: 1, unchanged: 599 })
    const { offer_id, name } = await offerOf(rows[550]?.external_id ?? '')
    assert.equal(name, 'Another name')
    const moved = (await stamps()).filter(({ changed_xid }, i) => changed_xid !== first[i]?.changed_xid)
    assert.deepEqual(moved.map((one) => one.offer_id), [offer_id]) // prettier-ignore
  })

  test(`a bad ${format} row is reported with its line and reason, and all others are taken`, async () => {
    const bad: [Record<string, unknown>, RegExp][] = [
      [{ category: 'music' }, /^category must be one of survey, app, game, video\.$/],
      [{ category: undefined }, /category must be one of/],
      [{ payout: '1.23456' }, /^payout must be an amount of dollars with at most 4 decimals\.$/],
      [{ payout: '-1' }, /payout must be an amount/],
      [{ payout: '100000.01' }, /payout must be at most 100,000 dollars/],
      [{ payout: undefined }, /^payout is missing\.$/],
      [{ countries: 'US,XX,UK' }, /^countries has XX, UK, not an ISO 3166-1 code\.$/],
      [{ platforms: 'web,mobile' }, /^platforms has mobile, not one of web, android, ios\.$/],
      [{ advertiser: undefined }, /^advertiser is missing\.$/],
      [{ advertiser: 'Nobody' }, /there is no advertiser "Nobody": create it first/],
      [{ external_id: '' }, /^external_id is missing\.$/],
      [{ name: 'n'.repeat(301) }, /^name must have at most 300 characters\.$/],
      [{ destination_url: undefined }, /^destination_url is missing\.$/],
      [{ destination_url: 'javascript:alert(1)' }, /^destination_url must be an http or https URL\.$/],
      [{ destination_url: 'https://{click_id}.example.com/' }, /^destination_url must not have a macro in its host\.$/],
      [{ destination_url: 'https://u:p@ads.example.com/' }, /^destination_url must not contain credentials\.$/],
      [{ image_url: '//evil.example.com/x.png' }, /^image_url must be an http or https URL\.$/],
      [{ starts_at: '2026-02-02', ends_at: '2026-02-01' }, /^ends_at must be after starts_at\.$/],
      [{ starts_at: 'soon' }, /^starts_at must be a time/],
      [{ ends_at: '2026-02-30' }, /^ends_at must be a time/],
      [{ starts_at: '0000-12-31' }, /^starts_at must be a time/],
      [{ starts_at: '0001-01-01T00:00:00+02:00' }, /^starts_at must be a time/],
      [{ ends_at: '9999-12-31T23:00:00-02:00' }, /^ends_at must be a time/],
      [{ goals: [step('One', 1), step('Two', 1)] }, /^payout must be the sum over its goals\.$/],
      [{ goals: [step('One', 1), step('One', 0.25)] }, /^goals has two goals with the same name\.$/],
      [{ goals: [step('One', 1.25, { is_optional: true })] }, /^goals must include a goal that is not optional\.$/],
      [{ goals: [step('One', 1.25, { is_optinal: true })] }, /^goals\[1\].*is_optinal/],
      [{ goals: [step('One', 0.00001)], payout: '' }, /^goals\[1\]\.payout must be an amount/],
      [{ goals: '[{"name":' }, /^goals must be valid JSON\.$/],
      [{ revenue: '2', goals: [step('One', 1.25)] }, /^revenue must be the sum over its goals\.$/],
      [{ destination_url: 'https://ads.example.com/?g={goal_id}' }, /^destination_url uses the unknown macro \{goal_id\}\. Available: \{click_id\}, .*\{timestamp\}\.$/],
      [{ destination_url: 'https://ads.example.com/{click-id}' }, /^destination_url uses the unknown macro \{click-id\}/],
      [{ attribution_window: '30 days' }, /^attribution_window must be a time such as 90s, 15m, 24h or 30d\.$/],
      [{ attribution_window: '59s' }, /^attribution_window must be from 60s to 365d\.$/],
      [{ hold: '366d' }, /^hold must be from 0s to 365d\.$/],
      [{ over_cap: 'maybe' }, /^over_cap must be one of honour, reject\.$/],
      [{ daily_click_cap: 0 }, /^daily_click_cap must be a whole number from 1 to 1,000,000,000,000\.$/],
      [{ total_conversion_cap: '1.5' }, /^total_conversion_cap must be a whole number/],
      [{ total_click_cap: '1000000000001' }, /^total_click_cap must be a whole number/],
      [{ daily_payout_cap: '0' }, /^daily_payout_cap must be an amount of dollars above 0 and below 1,000,000,000/],
      [{ total_payout_cap: '1.00001' }, /^total_payout_cap must be an amount/],
      [{ goals: [step('One', 1.25, { payout_percent: 100.1 })] }, /^goals\[1\]\.payout_percent must be a percentage from 0 to 100/],
      [{ goals: [step('One', 1.25, { revenue_percent: '1.23456' })] }, /^goals\[1\]\.revenue_percent must be a percentage/],
      [{ goals: [step('One', 1.25, { is_repeatable: 'often' })] }, /^goals\[1\]\.is_repeatable must be true or false\.$/],
      [{ payment_required: 'perhaps' }, /^payment_required must be true or false\.$/],
      [{ boost: 0 }, /^boost must be a number from 0\.1 to 10 with at most 2 decimals\.$/],
      [{ boost: '1.001' }, /^boost must be a number/],
      [{ boost: 'more' }, /^boost must be a number/],
      [{ pin_position: 101 }, /^pin_position must be a whole number from 1 to 100\.$/],
      [{ pin_position: '1.5' }, /^pin_position must be a whole number/],
      [{ is_excluded: 'no way' }, /^is_excluded must be true or false\.$/],
      [{ language: 'xx' }, /^language must be an ISO 639-1 code such as en\.$/],
      [{ translations: { xx: { name: 'x' } } }, /^translations has xx, not an ISO 639-1 code such as de\.$/],
      [{ translations: { de: 'Umfrage' } }, /^translations has de without texts by field/],
      [{ translations: { de: { name: 'x' }, DE: { name: 'y' } } }, /^translations has de twice\.$/],
      [{ translations: { de: { title: 'x' } } }, /^translations\.de has an unknown field title\.$/],
      [{ translations: { de: { name: 'n'.repeat(301) } } }, /^translations\.de\.name must have at most 300 characters\.$/],
      [{ translations: '[1]' }, /^translations must be a JSON object\.$/],
      [{ translations: Object.fromEntries(['de', 'es', 'fr', 'it', 'nl', 'pl'].map((language) => [language, { description: 'd'.repeat(9_000), requirements: 'r'.repeat(9_000) }])) }, /^translations must have at most 100000 characters in all\.$/],
      [{ goals: [step('One', 1.25, { translations: { de: { name: 'n'.repeat(301) } } })] }, /^goals\[1\]\.translations\.de\.name must have at most/],
      [{ status: 'deleted' }, /^status must be one of active, paused\.$/],
      [{ name: 'a \0 NUL' }, /^name must have no NUL/],
      [{ description: 'a \x7f byte' }, /^description must be UTF-8\.$/],
      [{ name: '   ' }, /^name /],
      [{ category: 'music', payout: '-1' }, /^(?=.*category)(?=.*payout)/],
    ] // prettier-ignore
    const good = bad.map(() => row())
    const rows = bad.flatMap(([patch], i) => [{ ...row(), ...patch }, good[i] ?? row()])
    const imported = await bring(`bad.${format}`, write(format, rows))
    counts(imported, { rows: rows.length, created: good.length, rejected: bad.length })
    const byLine = new Map(imported.problems.map(({ line, problem }) => [line, problem]))
    for (const [i, [patch, reason]] of bad.entries())
      assert.match(byLine.get(2 * i + 2) ?? 'nothing', reason, JSON.stringify(patch))
    for (const { external_id } of good) assert.ok(await isKnown(external_id))
  })

  test(`of two ${format} rows for one offer the last one counts`, async () => {
    const twice = row()
    const far = Array.from({ length: 600 }, () => row())
    const rows = [{ ...twice, name: 'First' }, { ...twice, name: 'Second' }, ...far, { ...twice, name: 'Third' }]
    const imported = await bring(`twice.${format}`, write(format, rows))
    assert.equal(imported.created, 601)
    assert.equal(imported.created + imported.updated + imported.unchanged, imported.rows)
    const offer = await offerOf(twice.external_id)
    assert.equal(offer.name, 'Third')
    const rowsAgain = [...rows.slice(0, 2), { ...row(), category: 'x' }, ...rows.slice(2)]
    const again = await bring(`twice.${format}`, write(format, rowsAgain))
    assert.deepEqual([again.created, again.updated, again.rejected], [0, 0, 1])
    assert.equal((await offerOf(twice.external_id)).changed_xid, offer.changed_xid)
  })
}

test('a missing revenue equals the payout, for offers and for goals', async () => {
  const [plain, stepped] = [
    row({ payout: 1.5 }),
    row({ payout: 3, goals: [step('One', 1), step('Two', 2, { revenue: 2.5 })] }),
  ]
  await bring('revenue.json', asJson([plain, stepped]))
  assert.equal((await offerOf(plain.external_id)).revenue_micros, 1_500_000)
  assert.equal((await offerOf(stepped.external_id)).revenue_micros, 3_500_000)
})

test('a goal keeps its id by name, is retired when it is gone, and comes back with the same id', async () => {
  const offer = row({ payout: undefined })
  const importGoals = (...goals: unknown[]) => bring('goals.json', asJson([{ ...offer, goals }]))
  await importGoals(step('Install', 1), step('Level 5', 2))
  const { offer_id } = await offerOf(offer.external_id)
  const [install, level] = (await goalsOf(offer_id)).map((goal) => goal.goal_id)
  const now = async () => (await goalsOf(offer_id)).map((goal) => [goal.goal_id, goal.payout_micros, goal.is_retired])

  counts(await importGoals(step('Level 5', 3), step('Install', 1)), { rows: 1, updated: 1 })
  assert.deepEqual(await now(), [[level, 3_000_000, false], [install, 1_000_000, false]]) // prettier-ignore
  counts(await importGoals(step('Install', 1)), { rows: 1, updated: 1 })
  assert.deepEqual((await goalsOf(offer_id)).filter((goal) => goal.is_retired).map((goal) => goal.goal_id), [level]) // prettier-ignore
  assert.equal((await offerOf(offer.external_id)).payout_micros, 1_000_000)
  counts(await importGoals(step('Install', 1), step('Level 5', 2)), { rows: 1, updated: 1 })
  assert.deepEqual(await now(), [[install, 1_000_000, false], [level, 2_000_000, false]]) // prettier-ignore
  const last = await offerOf(offer.external_id)
  counts(await importGoals(step('Install', 1, { description: 'Open it' }), step('Level 5', 2)), { rows: 1, updated: 1 })
  const next = await offerOf(offer.external_id)
  assert.ok(BigInt(next.changed_xid) > BigInt(last.changed_xid), 'a change of a goal alone is a change of the offer')
})

test('countries may be a JSON list in a cell, and each counts once', async () => {
  const rows = ['["us", "DE"]', 'de us DE', 'US|DE'].map((countries) => row({ countries }))
  counts(await bring('countries.csv', asCsv(rows)), { rows: 3, created: 3 })
  for (const { external_id } of rows) assert.deepEqual((await offerOf(external_id)).countries, ['DE', 'US'])
})
