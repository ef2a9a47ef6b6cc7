// How soon the credentials in memory follow the database.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import pg from 'pg'
import { until } from '../../../test/installation.ts'
import { adminQuery } from '../../../test/databases.ts'
import { useWorld } from '../../../test/world.ts'
import { APP_ROLE } from '../../db/app-role.ts'

const world = useWorld('credentials')

const statusOf = async (credentials: Parameters<typeof world.get>[1]) =>
  (await world.get('/v1/offers?userId=u', credentials)).status

test('a suspended key stops working while changed offers wait to be read', async () => {
  const { appId, live } = await world.createApp()
  const other = new pg.Client(world.connection(world.databaseName))
  await other.connect()
  await other.query('BEGIN; LOCK TABLE offers IN ACCESS EXCLUSIVE MODE')
  await world.database.pool.query(
    `UPDATE publishers SET status = 'suspended' WHERE publisher_id = (SELECT publisher_id FROM apps WHERE app_id = $1)`,
    [appId],
  )
  await world.database.pool.query('UPDATE apps SET name = name WHERE app_id = $1', [appId])
  await until(async () => (await statusOf(live)) === 401)
  await other.query('ROLLBACK')
  await other.end()
})

test('keys and offers created after a backup are gone when it is restored', async () => {
  const name = world.databaseName
  const old = await world.createApp()
  const [oldOffer] = await world.createOffers({ name: 'Before the backup' })
  await withoutConnections(`CREATE DATABASE ${name}_backup TEMPLATE ${name} OWNER ${APP_ROLE}`)
  const young = await world.createApp()
  const [youngOffer] = await world.createOffers({ name: 'After the backup' })
  assert.deepEqual(
    [await statusOf(young.live), (await world.get(`/v1/offers/${youngOffer}?userId=u`, old.live)).status],
    [200, 200],
  )
  await withoutConnections(`DROP DATABASE ${name}`, `ALTER DATABASE ${name}_backup RENAME TO ${name}`)
  await until(async () => (await statusOf(young.live)) === 401)
  await until(async () => (await world.get(`/v1/offers/${youngOffer}?userId=u`, old.live)).status === 404)
  assert.equal((await world.get(`/v1/offers/${oldOffer}?userId=u`, old.live)).status, 200)
  const { offers } = (await world.get('/v1/offers?userId=u', old.live)).body.data
  assert.deepEqual(
    offers.map((offer) => offer.offer_id),
    [oldOffer],
  )

  /** What needs the database for itself: its connections are ended and refused meanwhile, as in a restore. */
  async function withoutConnections(...statements: string[]): Promise<void> {
    await adminQuery(`ALTER DATABASE ${name} ALLOW_CONNECTIONS false`)
    await adminQuery(`SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE datname = '${name}'`)
    for (const statement of statements) await adminQuery(statement)
    await adminQuery(`ALTER DATABASE ${name} ALLOW_CONNECTIONS true`)
    await until(() =>
      world.database.pool.query('SELECT').then(
        () => true,
        () => false,
      ),
    )
  }
})
