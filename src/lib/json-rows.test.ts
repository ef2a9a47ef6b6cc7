import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { type JsonRow, readJsonRows } from './json-rows.ts'

async function readAll(chunks: string[]): Promise<JsonRow[]> {
  const rows: JsonRow[] = []
  for await (const row of readJsonRows(chunks.values() as unknown as AsyncIterable<string>)) rows.push(row)
  return rows
}

const read = (text: string) => readAll([text])

/** Cuts a text at the given shares of its length. */
function cut(text: string, shares: number[]): string[] {
  const places = [0, ...shares.map((share) => Math.floor(share * text.length)).toSorted((a, b) => a - b), text.length]
  return places.slice(1).map((end, i) => text.slice(places[i], end))
}

const space = fc.string({ unit: fc.constantFrom(' ', '\n', '\t', '\r', '\r\n'), maxLength: 4 })
const shares = fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { maxLength: 12 })
const element = fc.tuple(space, fc.jsonValue(), fc.constantFrom(0, 1, 2), space)

test('any array, in any layout and any chunks, comes back element by element with the lines they start on', async () => {
  await fc.assert(
    fc.asyncProperty(space, fc.array(element), space, shares, async (head, elements, tail, places) => {
      let text = `${head}[`
      const expected: JsonRow[] = []
      for (const [i, [before, value, indent, after]] of elements.entries()) {
        text += before
        const json = JSON.stringify(value, null, indent)
        const line = text.split('\n').length
        // Where several begin on one line, the line alone does not say which is meant.
        const isAlone = expected.at(-1)?.line !== line
        expected.push({ line, value: JSON.parse(json) as unknown, ...(isAlone ? {} : { element: i + 1 }) })
        text += json + after + (i < elements.length - 1 ? ',' : '')
      }
      text += `]${tail}`
      assert.deepEqual(await readAll(cut(text, places)), expected)
    }),
  )
})

test('how a text is cut into chunks makes no difference, whatever the text', async () => {
  const anyText = fc.oneof(
    fc.string(),
    fc.string({ unit: fc.constantFrom('[', ']', '{', '}', ',', ':', '"', '\\', ' ', '1', '\n') }),
  )
  await fc.assert(
    fc.asyncProperty(anyText, shares, async (text, places) => {
      assert.deepEqual(await readAll(cut(`[${text}]`, places)), await read(`[${text}]`))
    }),
  )
})

test('an element that is not valid JSON is reported with its line, and the others are read', async () => {
  for (const bad of [
    '{"a": }',
    '{a: 1}',
    'nope',
    "{'a': 1}",
    '{"a": 1}}',
    '{"a": 01}',
    '{"a": NaN}',
    '{"a": 1 "b": 2}',
  ])
    assert.deepEqual(
      await read(`[\n{"n": 1},\n${bad},\n{"n": 3}\n]`),
      [
        { line: 2, value: { n: 1 } },
        { line: 3, problem: 'not valid JSON' },
        { line: 4, value: { n: 3 } },
      ],
      bad,
    )
})

test('a text that is never closed is reported with the line of its element', async () => {
  const rows = await read('[\n{"n": 1},\n{"n": "two},\n{"n": 3}\n]')
  assert.deepEqual(rows, [
    { line: 2, value: { n: 1 } },
    { line: 3, problem: 'the file ends inside the array' },
  ])
})

test('a byte order mark before the array is ignored', async () => {
  assert.deepEqual(await read('\ufeff[1]'), [{ line: 1, value: 1 }])
})

test('an empty array has no elements, and an empty text is reported', async () => {
  assert.deepEqual(await read(' [ \n ] \n'), [])
  assert.deepEqual(await read(' \n'), [{ line: 2, problem: 'the file is empty' }])
  assert.deepEqual(await readAll([]), [{ line: 1, problem: 'the file is empty' }])
})

test('a text that is not an array is refused at once', async () => {
  for (const text of ['{"n": 1}', '"x"', 'external_id,name\n1,2'])
    assert.deepEqual(await read(text), [{ line: 1, problem: 'the file is not a JSON array: it must start with [' }])
})

test('an array that is cut off gives its whole elements and says where it ends', async () => {
  for (const rest of ['{"n": 2', '{"n": "2', '{"n": [2, ', '{"n": "\\'])
    assert.deepEqual(await read(`[{"n": 1},\n${rest}`), [
      { line: 1, value: { n: 1 } },
      { line: 2, problem: 'the file ends inside the array' },
    ])
  assert.equal((await read('[')).length, 1)
})

test('what stands behind the array is reported', async () => {
  assert.deepEqual(await read('[1]\n[2]'), [
    { line: 1, value: 1 },
    { line: 2, problem: 'there is something after the end of the array' },
  ])
})

test('an element that does not end is refused before it fills the memory', async () => {
  let chunksRead = 0
  function* endless(): Generator<string> {
    yield '[1, "'
    for (; ; chunksRead++) yield 'x'.repeat(65_536)
  }
  const rows: JsonRow[] = []
  for await (const row of readJsonRows(endless() as unknown as AsyncIterable<string>)) rows.push(row)
  assert.deepEqual(rows, [
    { line: 1, value: 1 },
    { line: 1, problem: 'the element does not end; the rest of the file was not read' },
  ])
  assert.ok(chunksRead < 20, `${chunksRead} chunks were read`)
})
