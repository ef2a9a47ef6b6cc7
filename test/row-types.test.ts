// What is written in groups is sent as rows, whose values have no names: their order is the program's and the schema's.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { COLUMNS as CLICK } from '../src/features/clicks/clicks.ts'
import { COLUMNS as CONVERSION } from '../src/features/conversions/conversions.ts'
import { LINE_COLUMNS } from '../src/features/ledger/ledger.ts'
import { RESULT_COLUMNS } from '../src/features/postbacks/claims.ts'
import { useWorld } from './world.ts'

const world = useWorld('row_types')

const SENT = {
  locker_click_row: CLICK,
  locker_conversion_row: CONVERSION,
  ledger_line: LINE_COLUMNS,
  postback_result: RESULT_COLUMNS,
}

test('rows are sent in the order of their type', async () => {
  const { rows } = await world.database.pool.query<{ type: string; names: string[] }>(`
    SELECT t.typname AS type, array_agg(a.attname::text ORDER BY a.attnum) AS names
    FROM pg_type t JOIN pg_attribute a ON a.attrelid = t.typrelid AND NOT a.attisdropped
    WHERE t.typname = ANY ($1) GROUP BY 1`, [Object.keys(SENT)]) // prettier-ignore
  const types = Object.fromEntries(rows.map(({ type, names }) => [type, names]))
  assert.deepEqual(types, Object.fromEntries(Object.entries(SENT).map(([type, names]) => [type, [...names]])))
})
