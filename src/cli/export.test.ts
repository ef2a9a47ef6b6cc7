import assert from 'node:assert/strict'
import { rmSync } from 'node:fs'
import { after, test } from 'node:test'
import { pathToFileURL } from 'node:url'
import { assertComplete } from '../../test/exported.ts'
import { createFolder } from '../../test/folders.ts'
import { failsWith, useOperator } from '../../test/operator.ts'
import { visit } from '../../test/people.ts'
import { addClicks } from '../../test/seed-rows.ts'
import type { Static } from 'typebox'
import type { System } from '../manage/operator/system/schema.ts'

const folder = createFolder('exports')
after(() => rmSync(folder, { recursive: true, force: true }))
const EXPORT_URL = pathToFileURL(folder).href
const { home, world } = useOperator({ worker: false, env: { EXPORT_URL } })

type Status = { target: string; kinds: { kind: string; rows: number; failure: string | null }[] }
const addClick = () => addClicks(world.database.db, { at: new Date().toISOString(), appId: 1, offerId: 1 })
const shownOnPage = async () => (await (await visit(world, 'operator_reader')).get<Static<typeof System>>('/system')).data.export // prettier-ignore

test('an export is run and shown, on the system page as well', async () => {
  const nothing = await home.run(['export', 'status'])
  assert.match(nothing.out, /Nothing has been exported yet/)
  await addClick()
  const run = await home.json<Status>('export', 'run')
  assert.deepEqual(
    run.kinds.map(({ kind, rows }) => [kind, rows]),
    [
      ['clicks', 1],
      ['conversion_events', 0],
    ],
  )
  assert.deepEqual(await home.json('export', 'status'), run)
  assert.deepEqual((await shownOnPage())?.kinds.map(({ rows }) => rows), [1, 0]) // prettier-ignore
  await assertComplete(world.database.db, folder)
})

test('what fails is said, and the command ends as failed', async () => {
  await addClick()
  rmSync(folder, { recursive: true })
  failsWith(
    await home.run(['export', 'run']),
    /Exporting clicks failed: manifest\/clicks\/00000001.ndjson, written before, is not there/,
  )
  assert.match((await shownOnPage())?.kinds[0]?.failure ?? '', /is not there/)
})

test('without EXPORT_URL there is nothing to show', async () => {
  failsWith(await home.run(['export', 'status'], { EXPORT_URL: '' }), /EXPORT_URL is not set/)
})
