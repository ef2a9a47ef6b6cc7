import assert from 'node:assert/strict'
import { hostname } from 'node:os'
import { after, test } from 'node:test'
import { adminQuery } from '../../test/databases.ts'
import { Installation } from '../../test/installation.ts'
import { databaseUrl, SECRET_KEY, useWorld } from '../../test/world.ts'
import { uuid7 } from '../lib/uuid7.ts'

// Its app is a process that runs on this machine.
const world = useWorld('budget')
const home = new Installation()
after(() => home.remove())
const env = () => ({ DATABASE_URL: databaseUrl(world), SECRET_KEY, DEMO: 'off' })

test('a node that starts adds itself to those that run', async () => {
  await adminQuery(`ALTER DATABASE ${world.databaseName} CONNECTION LIMIT 23`)
  const server = await home.serve(env())
  const { status, err } = await server.kill('SIGTERM')
  assert.equal(status, 0)
  assert.match(err, /The 2 processes on this database may use 24 connections, and PostgreSQL allows 23/)
})

test('doctor counts those on other machines, and here those that run or that will, whichever are more', async () => {
  const [version, now] = ['x', new Date()]
  const beat = (host: string, pid: number, part: 'api' | 'worker') => ({ node_id: uuid7(now.getTime()), host, pid, part, version, started_at: now, seen_at: now }) // prettier-ignore
  await world.database.db
    .insertInto('nodes')
    .values([
      beat('elsewhere', 1, 'api'),
      beat('elsewhere', 1, 'worker'),
      beat('elsewhere', 2, 'api'),
      beat('another', 2, 'worker'),
      beat(hostname(), 4_194_305, 'api'), // was killed: no process has so high a number
    ])
    .execute()
  const examine = async (more: Record<string, string>) => (await home.run(['doctor'], { ...env(), ...more })).out
  assert.match(await examine({}), / limits .* the 4 processes on this database use up to 48/)
  assert.match(await examine({ PROCESSES: '3' }), / limits .* the 7 processes on this database use up to 84/)
})
