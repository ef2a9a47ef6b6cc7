import assert from 'node:assert/strict'
import { test } from 'node:test'
import { useWorld } from '../../test/world.ts'
import { createLog } from './log.ts'

const world = useWorld('log')

test('an error of the database is logged without the row that it is about', async () => {
  const lines: string[] = []
  const log = createLog('info', { write: (line) => void lines.push(line) })
  const { pool } = world.database
  for (const text of [
    `INSERT INTO banned_users (user_id, reason) VALUES ('ada-7', NULL)`,
    `INSERT INTO banned_users (user_id, reason) SELECT 'ada-7', 'twice' FROM generate_series(1, 2)`,
    `SELECT '{"user": ada-7}'::jsonb`,
  ]) {
    const error = await pool.query(text).then(
      () => null,
      (caught: unknown) => caught,
    )
    log.error({ err: error, request_id: 'req_1' }, 'request failed')
  }
  assert.equal(lines.length, 3)
  assert.ok(!lines.join('').includes('ada-7'), lines.join(''))
  assert.partialDeepStrictEqual(JSON.parse(lines[0] ?? ''), { msg: 'request failed', request_id: 'req_1', err: { code: '23502', table: 'banned_users' } }) // prettier-ignore
})
