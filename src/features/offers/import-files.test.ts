// How an import reads its file: as a stream, in every spelling of CSV and JSON, and what it says of a broken one.
import assert from 'node:assert/strict'
import { mkdirSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { asCsv, asJson, FORMATS, importFile, write } from '../../../test/offer-files.ts'
import { counts, row, useImports } from '../../../test/offer-imports.ts'
import { OperatorError } from '../../errors.ts'

const { world, folder, bring, offerOf, isKnown } = useImports('import_files')

for (const format of FORMATS) {
  test(`a ${format} file of 6,000 rows is read as a stream`, async () => {
    const rows = Array.from({ length: 6_000 }, () => row({ description: 'long '.repeat(390) }))
    const file = join(folder, `big.${format}`)
    await writeFile(file, write(format, rows))
    const heapBefore = process.memoryUsage().heapUsed
    let heapMost = 0
    let readLast = 0
    const result = await importFile(world.database.db, file, {
      onProblem: ({ line, problem }) => assert.fail(`line ${line}: ${problem}`),
      onProgress: (read, total) => {
        assert.ok(read >= readLast && read <= total)
        if (readLast === 0) assert.ok(read < total / 4, 'the whole file was read before the first rows were written')
        readLast = read
        heapMost = Math.max(heapMost, process.memoryUsage().heapUsed)
      },
    })
    counts({ ...result, problems: [] }, { rows: 6_000, created: 6_000 })
    assert.ok(heapMost - heapBefore < 200_000_000, `${heapMost - heapBefore} bytes`)
  })

  test(`an empty ${format} file is reported, and one without rows is fine`, async () => {
    const empty = await bring(`empty.${format}`, '')
    counts(empty, { rows: 1, rejected: 1 })
    assert.deepEqual(empty.problems, [{ line: 1, problem: 'the file is empty' }])
    counts(await bring(`none.${format}`, write(format, [])), {})
  })
}

test('a CSV file may have a byte order mark, Windows line ends, empty lines and its columns in any order', async () => {
  const offer = row({ name: 'Two\r\nlines' })
  const text = asCsv([offer, '', row()], { newline: '\r\n', columns: Object.keys(offer).toReversed() })
  counts(await bring('windows.csv', `\ufeff${text}`), { rows: 2, created: 2 })
  assert.equal((await offerOf(offer.external_id)).name, 'Two\r\nlines')
})

test('the line of a CSV row is the one it starts on, whatever line ends stand in its cells', async () => {
  for (const newline of ['\n', '\r\n']) {
    const tall = { name: `Three${newline}lines${newline}high` }
    const rows = [row(tall), row({ category: 'x' }), row({ ...tall, category: 'x' }), row({ category: 'x' })]
    const { problems } = await bring('tall.csv', asCsv(rows, { newline }))
    assert.deepEqual(problems.map(({ line }) => line), [5, 6, 9]) // prettier-ignore
  }
})

test('a CSV row that does not fit the columns or has a stray quote loses no other', async () => {
  for (const bad of [','.repeat(40), 'too,few', 'x"y', '"x"y', 'x'.repeat(1_000_001)]) {
    const imported = await bring('stray.csv', asCsv([row(), bad, row(), row()]))
    counts(imported, { rows: 4, created: 3, rejected: 1 })
    assert.deepEqual(imported.problems.map(({ line }) => line), [3]) // prettier-ignore
  }
})

test('a CSV cell whose quote is never closed is reported, and the rows before it are taken', async () => {
  const imported = await bring('open.csv', asCsv([row(), '"open', row()]))
  assert.deepEqual([imported.created, imported.problems[0]?.line], [1, 3])
})

test('a stray quote that swallows other lines names them, even where the result fits the columns', async () => {
  const rows = Array.from({ length: 10 }, () =>
    row({ advertiser: 'A', name: 'Plain', destination_url: 'https://x.test/' }),
  )
  const lines = rows.map((one) => Object.values(one).join(','))
  const file = (...stray: [number, string][]) => {
    const changed = lines.with(stray[0]?.[0] ?? 0, stray[0]?.[1] ?? '')
    return [Object.keys(rows[0] ?? {}).join(','), ...(stray[1] ? changed.with(...stray[1]) : changed)].join('\n')
  }
  const opened = (lines[2] ?? '').replace('Plain', '"Plain')
  for (const [text, last] of [
    [file([2, opened]), 11],
    [file([2, opened], [5, (lines[5] ?? '').replace('Plain', '"Plain"')]), 7],
    [file([2, opened], [5, (lines[5] ?? '').replace('Plain', 'Plain"')]), 7],
    [file([2, opened], [3, (lines[3] ?? '').replace('Plain', 'Plain"')]), 5],
  ] as const) {
    const { problems } = await bring('swallowed.csv', text)
    const lost = problems.filter(({ line }) => line === 4)
    assert.match(lost[0]?.problem ?? '', new RegExp(`lines 4 to ${last} were not read`), text)
  }
})

test('a cell of several lines with commas in them is no stray quote', async () => {
  const offer = row({ description: 'One, two, three, four, five\nsix, seven, eight, nine, ten\neleven, twelve' })
  counts(await bring('commas.csv', asCsv([offer, row()])), { rows: 2, created: 2 })
})

test('a file that is not UTF-8 is refused with a sentence', async () => {
  const text = asCsv([row()])
  for (const bytes of [
    Buffer.from(`\ufeff${text}`, 'utf16le'),
    Buffer.from(text, 'utf16le'),
    Buffer.from(`\ufeff${text}`, 'utf16le').swap16(),
  ]) {
    const file = join(folder, 'wide.csv')
    await writeFile(file, bytes)
    const imported = importFile(world.database.db, file, { onProblem() {}, onProgress() {} })
    await assert.rejects(imported, /wide\.csv is not UTF-8 text; it looks like UTF-16\. Save it as UTF-8/)
  }
})

test('rows of a JSON array on one line are identified by their number', async () => {
  const text = JSON.stringify([row(), row({ category: 'x' }), row(), 7])
  const { problems } = await bring('line.json', text)
  assert.deepEqual(problems, [
    { line: 1, problem: 'element 2: category must be one of survey, app, game, video.' },
    { line: 1, problem: 'element 4: not an object.' },
  ])
})

test('an element of the array that is not valid JSON, or not an object, loses no other', async () => {
  const imported = await bring('broken.json', asJson([row(), '{"external_id": }', '7', '[]', 'null', row({ colour: 'red' }), row()])) // prettier-ignore
  counts(imported, { rows: 7, created: 2, rejected: 5 })
  assert.deepEqual(imported.problems.toSorted((a, b) => a.line - b.line), [
    { line: 3, problem: 'not valid JSON' },
    { line: 4, problem: 'not an object.' },
    { line: 5, problem: 'not an object.' },
    { line: 6, problem: 'not an object.' },
    { line: 7, problem: 'unknown field colour.' },
  ]) // prettier-ignore
})

test('the whole rows of a truncated array are taken, and the end is reported', async () => {
  const imported = await bring('cut.json', asJson([row(), row(), row()]).slice(0, -40))
  counts(imported, { rows: 3, created: 2, rejected: 1 })
  assert.deepEqual(imported.problems, [{ line: 4, problem: 'the file ends inside the array' }])
})

test('an external_id that is too long a number to be exact is refused rather than mixed up with another', async () => {
  const exact = JSON.stringify(row({ external_id: 'ID' }))
  const rows = ['9007199254740992', '9007199254740993', '4711'].map((id) => exact.replace('"ID"', id))
  const imported = await bring('numbers.json', asJson(rows))
  counts(imported, { rows: 3, created: 1, rejected: 2 })
  assert.ok(await isKnown('4711'))
})

test('a column that is not known is refused before anything is written', async () => {
  const good = row()
  const text = asCsv([good], { columns: [...Object.keys(good), 'colour', 'size'] })
  await assert.rejects(bring('columns.csv', text), (error: Error) => {
    assert.ok(error instanceof OperatorError)
    assert.match(error.message, /unknown columns: colour, size\.\nAvailable: external_id, advertiser/)
    return true
  })
  await assert.rejects(bring('columns.csv', 'name,name\na,b\n'), /names a column twice/)
  assert.equal(await isKnown(good.external_id), false)
})

test('what cannot be read as a file of offers is refused with a sentence', async () => {
  mkdirSync(join(folder, 'folder.json'))
  await assert.rejects(bring('offers.txt', '[]'), /offers\.txt must end in \.json or \.csv/)
  for (const [name, message] of [['missing', /There is no file .*missing\.json/], ['folder', /is not a file/]] as const) {
    const file = join(folder, `${name}.json`)
    await assert.rejects(importFile(world.database.db, file, { onProblem() {}, onProgress() {} }), message)
  } // prettier-ignore
})
