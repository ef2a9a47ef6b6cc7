// Reports of abuse, and what the operator decides about them while the publisher changes the link.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { visit } from '../../../test/people.ts'
import { TESTER } from '../../../test/tester.ts'
import { BROWSER, useWorld } from '../../../test/world.ts'
import { changeLocker, createLocker, findLocker } from './lockers.ts'
import { listReported, reportLocker } from './reports.ts'

const world = useWorld('locker_reports')
const PHISH = 'https://phish.example.com/login'
const HARMLESS = 'https://harmless.example.com/'

async function createLink() {
  const { db } = world.database
  const { appId } = await world.createApp()
  const lockerId = await createLocker(db, TESTER, world.config, appId, { name: 'L', link: { target_url: PHISH } })
  const find = async () => (await findLocker(db, { lockerId }))!
  const slug = (await find()).slug ?? ''
  let visitors = 0
  const report = async (reason = 'scam') => {
    const remoteAddress = `203.0.113.${++visitors}`
    const answer = await world.app.server.inject({ method: 'POST', url: `/l/${slug}/report`, payload: { reason }, remoteAddress, headers: { 'user-agent': BROWSER } }) // prettier-ignore
    assert.equal(answer.statusCode, 200, answer.body)
  }
  const leadTo = (target_url: string) => changeLocker(db, TESTER, world.config, { appId, lockerId }, { name: 'L', link: { target_url } }) // prettier-ignore
  const reported = async () => (await listReported(db, { limit: 100 })).links.find((one) => one.locker_id === lockerId)
  return { lockerId, find, report, leadTo, reported }
}

test('the operator sees the targets that were reported, wherever the link leads by now', async () => {
  const link = await createLink()
  await link.report()
  await link.leadTo(HARMLESS)
  const shown = await link.reported()
  assert.deepEqual([shown?.target_url, shown?.reported_targets, shown?.examples[0]?.target_url], [HARMLESS, [PHISH], PHISH]) // prettier-ignore
  await link.report()
  assert.deepEqual((await link.reported())?.reported_targets, [HARMLESS, PHISH])
})

test('a decision closes the reports that were seen, and none that came after them', async () => {
  const link = await createLink()
  const operator = await visit(world, 'operator')
  const decide = async (what: 'restore' | 'take-down', seen?: number | null) => {
    const body = { ...(what === 'restore' ? {} : { reason: 'Phishing' }), seen_report_id: seen ?? null }
    assert.equal((await operator.post(`/lockers/${link.lockerId}/${what}`, body)).status, 200)
  }
  const count = async () => (await link.reported())?.reports ?? 0
  await link.report('broken')
  const seen = (await link.reported())?.last_report_id
  await link.report('malware')
  await decide('restore', seen)
  assert.deepEqual([await count(), (await link.reported())?.examples.map(({ reason }) => reason)], [1, ['malware']])
  await decide('restore')
  assert.equal(await count(), 1)
  await decide('take-down', (await link.reported())?.last_report_id)
  assert.equal(await count(), 0)
})

test('what is reported of another target is kept, however much was reported of the one before', async () => {
  const link = await createLink()
  await link.leadTo(HARMLESS)
  for (let i = 0; i < 110; i++) await reportLocker(world.database.db, await link.find(), { reason: 'broken' })
  await link.leadTo(PHISH)
  for (let i = 0; i < 2; i++) await link.report()
  const shown = await link.reported()
  assert.deepEqual([shown?.reports, shown?.reported_targets], [101, [PHISH, HARMLESS]])
})
