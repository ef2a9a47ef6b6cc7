// Rows on their way to PostgreSQL: none of their values may come out otherwise than it went in.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { useWorld } from '../../test/world.ts'
import { arrayLiteral, rowsLiteral } from './arrays.ts'

const world = useWorld('arrays')

const COLUMNS = ['text', 'number', 'yes', 'at', 'texts', 'last'] as const

const text = fc.oneof(
  fc.string({ unit: 'grapheme', maxLength: 8 }).filter((one) => !one.includes('\0')),
  fc.string({ unit: fc.constantFrom('"', '\\', '(', ')', '{', '}', ',', ' ', '\n', "'", '\u001e', 'a'), maxLength: 8 }),
  fc.constantFrom('', 'NULL', 'null', '""', '\\N', '()', '{}'),
)
const perhaps = <T>(one: fc.Arbitrary<T>) => fc.option(one, { nil: null })
const row = fc.record(
  {
    text: perhaps(text),
    number: perhaps(fc.maxSafeInteger()),
    yes: perhaps(fc.boolean()),
    at: perhaps(fc.date({ min: new Date('0001-01-01'), max: new Date('9999-12-31'), noInvalidDate: true })),
    texts: perhaps(fc.array(text, { maxLength: 3 })),
    last: perhaps(text),
  },
  { noNullPrototype: true },
)

test('whatever is in a row, PostgreSQL reads the same', async () => {
  const { pool } = world.database
  await pool.query(
    `CREATE TYPE any_row AS (text text, number bigint, yes boolean, at timestamptz, texts text[], last text)`,
  )
  await fc.assert(
    fc.asyncProperty(fc.array(row, { maxLength: 5 }), async (rows) => {
      const found = await pool.query(`SELECT * FROM unnest($1::any_row[])`, [rowsLiteral(COLUMNS, rows)])
      assert.deepEqual(found.rows, rows)
    }),
    { numRuns: 300 },
  )
})

test('what a row lacks is null', async () => {
  await world.database.pool.query(`CREATE TYPE two AS (a text, b text)`)
  const { rows } = await world.database.pool.query(`SELECT * FROM unnest($1::two[])`, [
    rowsLiteral(['a', 'b'], [{ b: 'x' }]),
  ])
  assert.deepEqual(rows, [{ a: null, b: 'x' }])
})

test('whatever is in a list of texts, PostgreSQL reads the same', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(perhaps(text)), async (texts) => {
      const { rows } = await world.database.pool.query(`SELECT $1::text[] AS texts`, [arrayLiteral(texts)])
      assert.deepEqual(rows[0].texts, texts)
    }),
    { numRuns: 100 },
  )
})
