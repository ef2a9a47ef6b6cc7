import assert from 'node:assert/strict'
import { test } from 'node:test'
import { csvLine } from './csv-line.ts'

test('a line of CSV: commas, quotes and line breaks are quoted, nothing is an empty cell', () => {
  assert.equal(csvLine(['a', 1, true, null, '', 'b,c']), 'a,1,true,,,"b,c"\r\n')
  assert.equal(csvLine(['say "hi"', 'two\nlines']), '"say ""hi""","two\nlines"\r\n')
})

test('what a spreadsheet would take for a formula is text; a negative number is a number', () => {
  assert.equal(csvLine(['=1+1', '+1', '@SUM(A1)', '-2', '\tx']), "'=1+1,'+1,'@SUM(A1),'-2,'\tx\r\n")
  assert.equal(csvLine(['=HYPERLINK("x","y")']), `"'=HYPERLINK(""x"",""y"")"\r\n`)
  assert.equal(csvLine([{ exact: '-12.50' }, -3]), '-12.50,-3\r\n')
})
