import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { csvLine } from './csv-line.ts'

test('a line of CSV: commas, quotes and line breaks are quoted, nothing is an empty cell', () => {
  assert.equal(csvLine(['a', 1, true, null, '', 'b,c']), 'a,1,true,,,"b,c"\r\n')
  assert.equal(csvLine(['say "hi"', 'two\nlines']), '"say ""hi""","two\nlines"\r\n')
  assert.equal(csvLine(['a;b', 'a\tb', 'a-b', 'x@example.com']), '"a;b","a\tb",a-b,x@example.com\r\n')
})

test('what a spreadsheet would take for a formula is text; a negative number is a number', () => {
  assert.equal(csvLine(['=1+1', '+1', '@SUM(A1)', '-2', '\tx']), `'=1+1,'+1,'@SUM(A1),'-2,"\tx"\r\n`)
  assert.equal(csvLine(['=HYPERLINK("x","y")']), `"'=HYPERLINK(""x"",""y"")"\r\n`)
  assert.equal(csvLine([{ exact: '-12.50' }, -3]), '-12.50,-3\r\n')
  assert.equal(
    csvLine(['＝1', '＋1', '－1', '＠x', ' =1', '\u00a0=1', '\u200b=1']),
    `'＝1,'＋1,'－1,'＠x, '=1,\u00a0'=1,\u200b'=1\r\n`,
  )
  assert.equal(csvLine(['\n=1', 'a;=1', 'a\t=1', 'a\r\n @x']), `"\n'=1","a;'=1","a\t'=1","a\r\n '@x"\r\n`)
})

/** The cells of a line as a program sees them that reads it naively or well, with this separator. */
function cellsOf(line: string, separator: string): string[] {
  const naive = line.split(new RegExp(`[${separator}\r\n]`))
  const well: string[] = []
  let isQuoted = false
  let cell = ''
  for (const c of line) {
    if (c === '"' && (isQuoted || cell === '')) isQuoted = !isQuoted
    else if (!isQuoted && (c === separator || c === '\n')) {
      well.push(cell)
      cell = ''
    } else cell += c
  }
  return [...naive, ...well, cell]
}

test('whatever the text, no cell begins with a formula, whichever separator the file is opened with', () => {
  const nasty = fc.array(fc.constantFrom('=', '+', '-', '@', '＝', ';', '\t', '\n', '\r', ',', '"', "'", ' ', 'a', '1'))
  fc.assert(
    fc.property(nasty, nasty, (first, second) => {
      const line = csvLine(['x', first.join(''), second.join('')])
      // A comma separates our own cells: there the quotes stand at the beginning of one, and hold.
      for (const separator of [';', '\t'])
        for (const cell of cellsOf(line, separator)) assert.doesNotMatch(cell, /^[\s"]*[=+\-@＝]/, JSON.stringify(line))
      for (const cell of [first, second]) assert.doesNotMatch(csvLine([cell.join('')]), /^[\s"]*[=+\-@＝]/)
    }),
    { numRuns: 2_000 },
  )
})
