// Importing offers, through the door.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Static } from 'typebox'
import { asCsv, asJson } from '../../../../test/offer-files.ts'
import { row } from '../../../../test/offer-imports.ts'
import { visit, type Visitor } from '../../../../test/people.ts'
import { SECRET_KEY, useWorld } from '../../../../test/world.ts'
import { createAdvertiser } from '../../../features/accounts/advertisers.ts'
import type { AuditList } from '../audit/schema.ts'
import { type ImportJob, MAX_FILE_BYTES, type OfferHistory, type OfferPage } from './schema.ts'
import { TESTER } from '../../../../test/tester.ts'

const LOOK_MS = 100 // as the page does; a person has 600 requests a minute

let operator: Visitor
const world = useWorld('manage_imports', async () => {
  operator = await visit(world, 'operator')
  await createAdvertiser(world.database.db, TESTER, SECRET_KEY, row().advertiser)
})

/** Asks until it is no longer under way. */
async function settled(importId: string): Promise<ImportJob> {
  for (;;) {
    const { data } = await operator.get<ImportJob>(`/offer-imports/${importId}`)
    if (data.state !== 'checking' && data.state !== 'running') return data
    await sleep(LOOK_MS)
  }
}

async function upload(format: 'csv' | 'json', content: string): Promise<ImportJob> {
  const { data, text } = await operator.post<ImportJob>('/offer-imports', { file_name: `o.${format}`, format, content })
  assert.ok(data, text)
  return settled(data.import_id)
}

async function run(job: ImportJob): Promise<ImportJob> {
  assert.equal((await operator.post(`/offer-imports/${job.import_id}/run`)).status, 200)
  return settled(job.import_id)
}

const countOffers = async () => (await world.database.db.selectFrom('offers').select('offer_id').execute()).length

test('a file is previewed first: what would be created, changed and refused, by line; then it is imported', async () => {
  const [changed, same] = [row(), row({ goals: [{ name: 'A', payout: 1.25 }] })]
  await run(await upload('json', asJson([changed, same])))
  const before = await countOffers()

  const rows = [
    { ...changed, name: 'Renamed', payout: 2 },
    same,
    row({ category: 'music' }),
    row(),
    row({ advertiser: 'Nobody' }),
  ]
  for (const [format, content] of [['csv', asCsv(rows)], ['json', asJson(rows)]] as const) {
    const job = await upload(format, content)
    assert.equal(job.state, 'checked')
    assert.deepEqual(job.result, { rows: 5, created: 1, updated: 1, unchanged: 1, rejected: 2 })
    assert.partialDeepStrictEqual(job.changes, [
      { line: 2, kind: 'updated', name: 'Renamed', fields: ['name', 'payout', 'revenue', 'goals'] },
      { line: 5, kind: 'created' },
    ])
    assert.deepEqual(job.problems.map(({ line }) => line), [4, 6]) // prettier-ignore
    assert.match(job.problems[0]?.problem ?? '', /category must be one of/)
    assert.equal(await countOffers(), before, 'nothing was written')
  } // prettier-ignore

  const done = await run(await upload('csv', asCsv(rows)))
  assert.equal(done.state, 'done')
  assert.equal(done.progress, 1)
  assert.deepEqual(done.result, { rows: 5, created: 1, updated: 1, unchanged: 1, rejected: 2 })
  assert.deepEqual(done.problems.map(({ line }) => line), [4, 6]) // prettier-ignore
  assert.equal(await countOffers(), before + 1)
  assert.equal((await operator.post(`/offer-imports/${done.import_id}/run`)).status, 409, 'once')

  const entries = await world.database.db.selectFrom('audit_log').select(['action', 'details']).where('subject', '=', done.import_id).orderBy('audit_id').execute() // prettier-ignore
  assert.deepEqual(entries.map(({ action }) => action), ['offers.import', 'offers.imported']) // prettier-ignore
  assert.partialDeepStrictEqual(entries[1]?.details, { file_name: 'o.csv', state: 'done', created: 1, rejected: 2 })
})

test('reading through foretells the import, also for many rows and for offers named twice', async () => {
  const twice = row()
  const many = Array.from({ length: 1_100 }, () => row({ countries: ['us', 'DE'], hold: '2d', daily_click_cap: 5 }))
  const rows = [twice, { ...twice, name: 'Again' }, ...many, { ...twice, name: 'Third' }]
  const job = await upload('json', asJson(rows))
  const done = await run(job)
  assert.deepEqual(job.result, done.result)
  assert.equal(job.changes.length, 200)
  const again = await upload('json', asJson([...many, { ...twice, name: 'Third' }]))
  assert.partialDeepStrictEqual(again.result, { created: 0, updated: 0, unchanged: 1_101, rejected: 0 })
})

test('what an import did is in the history of each offer, and in the audit log as one', async () => {
  const [a, b, c] = [row(), row({ goals: [{ name: 'A', payout: 1 }, { name: 'B', payout: 2 }], payout: 3 }), row()] // prettier-ignore
  await run(await upload('json', asJson([a, b, c])))
  const goals = [{ name: 'A', payout: 1.5 }, { name: 'C', payout: 2 }] // prettier-ignore
  await run(
    await upload('csv', asCsv([{ ...a, name: 'Renamed', starts_at: '2026-01-01' }, { ...b, goals, payout: 3.5 }, c])),
  )
  const historyOf = async (externalId: string) => {
    const { data } = await operator.get<Static<typeof OfferPage>>(`/offers?search=${externalId}`)
    const found = data.offers.find((offer) => offer.external_id === externalId)
    return (await operator.get<Static<typeof OfferHistory>>(`/offers/${found?.offer_id}/history`)).data.changes
  }
  const [changed, made, ...none] = await historyOf(a.external_id)
  assert.deepEqual([changed?.action, made?.action, none], ['offer.import', 'offer.import_new', []])
  assert.match(changed?.who ?? '', /@example\.com$/)
  assert.deepEqual(changed?.fields, [
    { field: 'name', before: 'An offer', after: 'Renamed' },
    { field: 'starts_at', before: null, after: '2026-01-01T00:00:00.000Z' },
  ])
  const [regoaled] = await historyOf(b.external_id)
  const field = regoaled?.fields.find((one) => one.field === 'goals')
  const namesAndPayouts = (value: unknown) =>
    (value as { name: string; payout: number }[]).map((goal) => [goal.name, goal.payout])
  assert.deepEqual(namesAndPayouts(field?.before), [['A', 1], ['B', 2]]) // prettier-ignore
  assert.deepEqual(namesAndPayouts(field?.after), [['A', 1.5], ['C', 2]]) // prettier-ignore
  assert.deepEqual((await historyOf(c.external_id)).map(({ action }) => action), ['offer.import_new']) // prettier-ignore
  const { data } = await operator.get<Static<typeof AuditList>>('/audit?limit=4')
  assert.deepEqual(data.entries.map(({ action }) => action), ['offers.imported', 'offers.import', 'offers.imported', 'offers.import']) // prettier-ignore
})

test('an import goes on when who started it signs out', async () => {
  const other = await visit(world, 'operator')
  const job = await upload('json', asJson([row()]))
  const holder = await world.database.pool.connect()
  await holder.query('BEGIN; LOCK TABLE offers IN EXCLUSIVE MODE')
  const statuses = [
    (await other.post(`/offer-imports/${job.import_id}/run`)).status,
    (await other.delete('/session')).status,
  ]
  await holder.query('COMMIT')
  holder.release()
  assert.deepEqual(statuses, [200, 200])
  assert.equal((await settled(job.import_id)).state, 'done')
  const { data } = await operator.get<Static<typeof AuditList>>(`/audit?subject=${job.import_id}`)
  assert.deepEqual(data.entries.map(({ action }) => action), ['offers.imported', 'offers.import']) // prettier-ignore
})

test('a body that is too large gets the limit of its own operation', async () => {
  const headers = { 'content-type': 'application/json', 'content-length': '50000000' }
  const limitOf = async (path: string) => (await operator.send('POST', path, '{}', { headers })).error.details?.['body']
  assert.equal(await limitOf('/offer-imports'), `The body is larger than ${2 * MAX_FILE_BYTES} bytes.`)
  assert.equal(await limitOf('/offers'), 'The body is larger than 65536 bytes.')
})

test('a file that cannot be read says why', async () => {
  const csv = await upload('csv', 'name,colour\nx,red\n')
  assert.equal(csv.state, 'failed')
  assert.match(csv.fault ?? '', /unknown columns: colour/)
  const json = await upload('json', '{"name":"x"}')
  assert.equal(json.state, 'checked')
  assert.match(json.problems[0]?.problem ?? '', /not a JSON array/)
  assert.equal((await operator.post(`/offer-imports/${csv.import_id}/run`)).status, 409)
  assert.equal((await operator.get('/offer-imports/nothing')).status, 404)
  const unknown = await operator.post('/offer-imports', { file_name: 'a.xls', format: 'xls', content: '' })
  assert.deepEqual(Object.keys(unknown.error.details ?? {}), ['format'])
})

test('a payout above the revenue warns in the preview and at the import, and is taken', async () => {
  const above = row({ payout: '3', goals: [{ name: 'A', payout: 2, revenue: 1.5 }, { name: 'B', payout: 1, payout_percent: 50, revenue_percent: 40 }] }) // prettier-ignore
  const checked = await upload('json', asJson([row(), above]))
  const warnings = [
    '"A" pays 2.00 USD and earns 1.50 USD: the payout is above the revenue.',
    '"B" pays 50 % and earns 40 %: the payout is above the revenue.',
  ]
  assert.deepEqual(checked.warnings.map(({ warning }) => warning), warnings) // prettier-ignore
  assert.equal(new Set(checked.warnings.map(({ line }) => line)).size, 1)
  const done = await run(checked)
  assert.deepEqual([done.result.created, done.result.rejected, done.warnings.length], [2, 0, 2])
})
