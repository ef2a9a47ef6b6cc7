import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from 'kysely'
import { visit } from '../../../test/people.ts'
import { useWorld } from '../../../test/world.ts'
import { exportDue } from './exporter.ts'
import { createFolderTarget } from './folder.ts'
import { exportProblemWriter } from './problem-mails.ts'
import { addClicks } from '../../../test/seed-rows.ts'

const world = useWorld('export_mails')
const target = createFolderTarget('/nowhere/at all')

test('an export that fails for ten minutes is mailed to the operators, once a day while it lasts', async () => {
  const { db } = world.database
  await visit(world, 'operator')
  await addClicks(db, { at: new Date().toISOString(), appId: 1, offerId: 1 })
  const fail = () => exportDue({ db, target, intervalSeconds: 60, warn: () => {} }, true)
  const mails = async () =>
    (await db.selectFrom('mails').select('about').where('kind', '=', 'export_problem').execute()).length
  const passTime = (time: string) =>
    sql`UPDATE export_positions SET failing_since = failing_since - ${time}::interval, mailed_at = mailed_at - ${time}::interval`.execute(
      db,
    )
  await fail()
  assert.equal(await mails(), 0)
  await passTime('11 minutes')
  await fail()
  await fail()
  assert.equal(await mails(), 1)
  await passTime('1 day')
  await fail()
  assert.equal(await mails(), 2)

  const writer = exportProblemWriter({ publicUrl: 'https://offers.test' })
  const write = () =>
    db.transaction().execute(async (trx) => ({
      to: await writer.findRecipients(trx, target.url, new Date()),
      letter: await writer.write(trx, target.url, new Date()),
    }))
  const { to, letter } = await write()
  assert.equal(to.length, 1)
  assert.match(letter?.text ?? '', /Exporting clicks to file:\/\/\/nowhere\/at%20all has failed since .*: ENOENT/)
  await sql`UPDATE export_positions SET failing_since = NULL, failures = 0, failure = NULL`.execute(db)
  assert.deepEqual(await write(), { to: [], letter: null }) // it works again
})
