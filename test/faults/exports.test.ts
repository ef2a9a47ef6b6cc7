// Workers that export are killed and frozen again and again while users click, convert and are reversed: in the end the
// manifests list every click and every event exactly once.
import { rmSync } from 'node:fs'
import { after, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'
import { sql } from 'kysely'
import { LOCKS } from '../../src/db/locks.ts'
import { readExports } from '../../src/features/exports/status.ts'
import { assertComplete } from '../exported.ts'
import { createFolder } from '../folders.ts'
import { until } from '../installation.ts'
import { FAULT_ROUNDS } from '../tier.ts'
import { useTwoWorkers } from '../worker-world.ts'

const PATIENCE_MS = 120_000
const folder = createFolder('exports')
after(() => rmSync(folder, { recursive: true, force: true }))
const { world, first, second } = useTwoWorkers('export_faults')
const url = pathToFileURL(folder).href
const env = { EXPORT_URL: url, EXPORT_INTERVAL_SECONDS: '5' }

/** So that files are being written most of the time. */
const hurry = () => sql`UPDATE export_positions SET due_at = now()`.execute(world.database.db)
const countRows = async () => (await readExports(world.database.db, url)).reduce((sum, { rows }) => sum + rows, 0)

/** As PostgreSQL does after two minutes, but sooner. */
const takeLockFrom = (worker: string) =>
  sql`SELECT pg_terminate_backend(pid) FROM pg_locks JOIN pg_stat_activity USING (pid)
    WHERE locktype = 'advisory' AND objid = ${LOCKS.exports} AND application_name = ${worker}`.execute(
    world.database.db,
  )

/** Users click, are confirmed, and every other conversion is reversed, until stopped. */
async function comeAndGo(isOver: () => boolean): Promise<void> {
  const [offerId = 0] = await world.createOffers({})
  const { live } = await world.createApp()
  for (let i = 0; !isOver(); i++) {
    const { clickId } = await world.click(offerId, live, `userId=u${i}`)
    if (i % 2 === 0) await world.confirm(offerId, clickId)
    if (i % 4 === 0) await world.confirm(offerId, clickId, { status: 'reversed' })
  }
}

test(`after kill -9 of workers, the manifests list every row exactly once (${3 * FAULT_ROUNDS} rounds)`, async () => {
  let isOver = false
  const traffic = Promise.all([comeAndGo(() => isOver), comeAndGo(() => isOver)])
  for (let round = 0; round < 3 * FAULT_ROUNDS; round++) {
    await Promise.all([first.start(env), second.start(env)])
    const before = await countRows()
    await until(async () => (await hurry(), (await countRows()) > before), PATIENCE_MS)
    await sleep(Math.random() * 500)
    first.freeze()
    await takeLockFrom('first')
    const frozen = await countRows()
    await until(async () => (await hurry(), (await countRows()) > frozen), PATIENCE_MS)
    first.thaw() // and goes on with what it was doing
    await sleep(Math.random() * 500)
    await Promise.all([first.kill('SIGKILL'), second.kill('SIGKILL')])
  }
  isOver = true
  await traffic
  await second.start(env)
  await until(async () => (await sql`SELECT FROM waiting_events LIMIT 1`.execute(world.database.db)).rows.length === 0, PATIENCE_MS) // prettier-ignore
  const { rows } = await sql<{ now: Date }>`SELECT clock_timestamp() AS now`.execute(world.database.db)
  const end = rows[0]?.now ?? new Date()
  await until(async () => {
    await hurry()
    return (await readExports(world.database.db, url)).every(
      ({ caught_up_at }) => caught_up_at !== null && caught_up_at > end,
    )
  }, PATIENCE_MS)
  await second.kill('SIGTERM')
  const { clicks, events } = await assertComplete(world.database.db, folder)
  if (clicks < 10 || events < 10) throw new Error(`Too few to prove anything: ${clicks} clicks, ${events} events.`)
})
