import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Deal, createConversion, createDeal } from '../../../../test/conversion-rows.ts'
import { addClicks } from '../../../../test/seed-rows.ts'
import { visit } from '../../../../test/people.ts'
import { useWorld } from '../../../../test/world.ts'
import { PUBLISHER_ROLES } from '../../../features/accounts/people.ts'
import type { Stats } from '../../../features/reports/schema.ts'
import { writeStats } from './csv.ts'

const USD = 1_000_000
const RANGE = 'from=2026-03-10&to=2026-03-13'

let ours: Deal
let theirs: Deal
const world = useWorld('manage_reports', async () => {
  ours = await createDeal(world, { name: '=Formula, "quoted"' })
  theirs = await createDeal(world)
  const at = '2026-03-10T23:30:00Z'
  const click = { at, appId: ours.appId, offerId: ours.offerId, country: 'US', aff_sub: '@cmd' }
  await addClicks(world.database.db, click, click, { ...click, isTest: true }, { ...click, appId: theirs.appId })
  await createConversion(world, ours, {
    status: 'approved',
    payoutMicros: USD,
    revenueMicros: 2 * USD,
    at: new Date(at),
  })
  await createConversion(world, ours, {
    status: 'pending',
    payoutMicros: USD,
    revenueMicros: 2 * USD,
    at: new Date(at),
  })
})

test('the people of a publisher see the figures of their app, by day of any zone', async () => {
  for (const role of PUBLISHER_ROLES) {
    const visitor = await visit(world, role, ours.publisherId)
    const { status, data } = await visitor.get<Stats>(`/apps/${ours.appId}/stats?${RANGE}&timezone=Europe/Berlin`)
    assert.equal(status, 200)
    assert.deepEqual(
      data.rows.map(({ day, clicks, approved, pending, payout }) => [day, clicks, approved, pending, payout]),
      [
        ['2026-03-10', 0, 0, 0, 0],
        ['2026-03-11', 2, 1, 1, 1],
        ['2026-03-12', 0, 0, 0, 0],
      ],
    )
    assert.deepEqual([data.totals.epc, data.totals.conversion_rate, data.timezone], [0.5, 1, 'Europe/Berlin'])
  }
})

test('rows stand for offers, countries, platforms and sub-IDs, and can be narrowed', async () => {
  const visitor = await visit(world, 'operator_reader')
  const rowsOf = async (query: string) =>
    (await visitor.get<Stats>(`/apps/${ours.appId}/stats?${RANGE}&${query}`)).data.rows
  assert.equal((await rowsOf('group_by=offer'))[0]?.offer_name, '=Formula, "quoted"')
  assert.deepEqual(
    (await rowsOf('group_by=country')).map(({ country, clicks }) => [country, clicks]),
    [
      [null, 0],
      ['US', 2],
    ],
  )
  assert.equal((await rowsOf('group_by=platform'))[0]?.platform, null)
  assert.equal((await rowsOf('group_by=aff_sub&limit=5'))[1]?.aff_sub, '@cmd')
  assert.equal((await rowsOf('group_by=country&country=us')).length, 1)
  assert.equal((await rowsOf(`group_by=offer&offer_id=${theirs.offerId}`)).length, 0)
})

test('what is wrong is said by parameter', async () => {
  const visitor = await visit(world, 'publisher_owner', ours.publisherId)
  for (const path of ['stats', 'stats.csv']) {
    const bad = await visitor.get(`/apps/${ours.appId}/${path}?group_by=user&offer_id=0&from=x`)
    assert.deepEqual(
      [bad.status, Object.keys(bad.error.details ?? {}).toSorted()],
      [400, ['from', 'group_by', 'offer_id']],
    )
    const zone = await visitor.get(`/apps/${ours.appId}/${path}?timezone=Mars/Base`)
    assert.deepEqual([zone.status, Object.keys(zone.error.details ?? {})], [400, ['timezone']])
  }
})

test('the file has the same figures, and nothing in it is a formula', async () => {
  const visitor = await visit(world, 'publisher_developer', ours.publisherId)
  const answer = await visitor.get(`/apps/${ours.appId}/stats.csv?${RANGE}&group_by=offer`)
  assert.equal(answer.status, 200)
  assert.deepEqual(answer.text.split('\r\n'), [
    'offer_id,offer_name,clicks,conversions,pending,approved,rejected,reversed,payout,payout_local,epc,conversion_rate',
    `${ours.offerId},"'=Formula, ""quoted""",2,2,1,1,0,0,1,100,0.5,1`,
    '',
  ])
  const subs = await visitor.get(`/apps/${ours.appId}/stats.csv?${RANGE}&group_by=aff_sub`)
  assert.match(subs.text, /^'@cmd,2,/m)
  const days = await visitor.get(`/apps/${ours.appId}/stats.csv?${RANGE}`)
  assert.equal(days.text.split('\r\n').length, 5)
})

test('an incomplete file says so', () => {
  const figures = { clicks: 1, converted_clicks: 0, conversions: 0, pending: 0, approved: 0, rejected: 0, reversed: 0, payout: 0, payout_local: 0, epc: 0, conversion_rate: 0 } // prettier-ignore
  const stats: Stats = { from: '', to: '', timezone: 'UTC', group_by: 'country', rows: [{ country: null, ...figures }], has_more: true, totals: figures } // prettier-ignore
  const lines = [...writeStats(stats)]
  assert.deepEqual(lines.slice(1), [',1,0,0,0,0,0,0,0,0,0\r\n', 'Only the 1 rows with the highest payout: there are more.\r\n']) // prettier-ignore
  assert.equal([...writeStats({ ...stats, has_more: false })].length, 2)
})

test('a file is sent to be kept as one', async () => {
  const visitor = await visit(world, 'operator')
  const { data } = await visitor.post<{ token: string }>('/me/tokens', { name: 'reports' })
  const url = `/manage/v1/apps/${ours.appId}/stats.csv?${RANGE}`
  const answer = await world.app.server.inject({ url, headers: { authorization: `Bearer ${data.token}` } })
  assert.equal(answer.headers['content-type'], 'text/csv; charset=utf-8')
  assert.equal(answer.headers['content-disposition'], `attachment; filename="app-${ours.appId}-by-day-2026-03-10.csv"`)
  assert.equal(answer.headers['x-content-type-options'], 'nosniff')
})

test('the app of another publisher is 404', async () => {
  const visitor = await visit(world, 'publisher_owner', ours.publisherId)
  for (const path of ['stats', 'stats.csv'])
    assert.equal((await visitor.get(`/apps/${theirs.appId}/${path}`)).status, 404)
})
