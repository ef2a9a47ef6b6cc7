import assert from 'node:assert/strict'
import { Writable } from 'node:stream'
import { stripVTControlCharacters } from 'node:util'
import { test } from 'node:test'
import { drawTable } from './table.ts'
import { inTerminal, terminal, type Terminal } from './terminal.ts'

const ROWS = [
  { offer_id: 1, name: 'A long name '.repeat(12).trim(), status: 'active', note: 'one\nline', more: 'x'.repeat(40) },
  { offer_id: 20_000_000, name: 'Short', status: 'paused', note: null, more: 'y' },
]

type Place = Omit<Partial<Terminal>, 'out'> & { columns?: number; isTTY?: boolean }

async function draw({ columns, isTTY, ...more }: Place = {}, rows: Record<string, unknown>[] = ROWS): Promise<string> {
  const out = Object.assign(new Writable(), { isTTY, columns })
  return inTerminal({ ...terminal(), env: {}, ...more, out } as Terminal, async () => drawTable(rows))
}

const widest = (text: string) =>
  Math.max(
    ...stripVTControlCharacters(text)
      .split('\n')
      .map((line) => line.length),
  )

test('a long cell is cut with an ellipsis so that a table fits 100 columns, and IDs stay whole', async () => {
  const text = await draw()
  assert.equal(widest(text), 100)
  assert.match(text, /^1 .*A long name A.*…/m)
  assert.match(text, /^20000000 +Short/m)
  assert.match(text, / one line /)
  assert.doesNotMatch(text, /--wide/)
})

test('times and IDs stay whole, however wide the rest is', async () => {
  const at = '2026-11-18T12:34:56Z'
  const id = '019a9e5f-0000-7000-8000-000000000000'
  const rows = [{ what: 'attempt', at, about: 'a long text '.repeat(12), id, request_id: `call_${id}` }]
  const text = await draw({}, rows)
  assert.equal(widest(text) <= 100, true)
  assert.ok(text.includes(at) && text.includes(id) && text.includes('attempt'), text)
  assert.match(text, /\n\nAdd --wide for request_id\.$/)
})

test('what is empty looks the same, whatever it is', async () => {
  const text = await draw({}, [{ none: null, blank: '', list: [], object: {}, missing: undefined, zero: 0, no: false }])
  assert.match(text, /\n- +- +- +- +- +0 +false$/)
})

test('--wide prints everything in full', async () => {
  const text = await draw({ isWide: true })
  assert.ok(text.includes(ROWS[0]?.name ?? '-') && text.includes('x'.repeat(40)))
  assert.doesNotMatch(text, /…/)
})

test('at a terminal a table is as wide as the terminal, and columns that do not fit are named', async () => {
  assert.ok(widest(await draw({ isTTY: true, columns: 130 })) > 100)
  assert.ok(widest(await draw({ isTTY: true, columns: 130 })) <= 130)
  const many = [Object.fromEntries(Array.from({ length: 9 }, (_, i) => [`column${i}`, 'a rather long text']))]
  const narrow = await draw({ isTTY: true, columns: 70 }, many)
  assert.ok(widest(narrow) <= 70)
  assert.match(narrow, /\n\nAdd --wide for column5, column6, column7, column8\.$/)
})

test('statuses have colours at a terminal only, and not with NO_COLOR or TERM=dumb', async () => {
  const green = '\u001B[32mactive'
  assert.ok((await draw({ isTTY: true })).includes(green))
  for (const text of [
    await draw(),
    await draw({ isTTY: true, env: { NO_COLOR: '1' } }),
    await draw({ isTTY: true, env: { TERM: 'dumb' } }),
  ])
    assert.equal(stripVTControlCharacters(text), text)
})
