// Reads CSV (RFC 4180) as a stream: each row as its cells, with the line it starts on. A row with a stray quote is
// reported alone: the quote is treated as text, so the row ends where its line does. Where an opened quote swallows
// other lines before that shows, they are named.

const MAX_ROW = 1_000_000

type State = 'start' | 'bare' | 'quoted' | 'closed' // of a cell: before it, in it, in its quotes, behind them

/** A row that began on `line` and ended on `lastLine`. */
export type CsvRow = { line: number; lastLine: number; cells: string[] } | { line: number; problem: string }

export async function* readCsvRows(text: AsyncIterable<string>): AsyncGenerator<CsvRow> {
  let line = 1
  let startLine = 1
  let state = 'start' as State
  let cells: string[] = []
  let cell = ''
  let size = 0
  let problem: string | null = null
  let isFirst = true
  let isOver = false

  const finish = (): CsvRow | null => {
    cells.push(cell.endsWith('\r') && state === 'bare' ? cell.slice(0, -1) : cell)
    const isEmpty = cells.length === 1 && cells[0] === '' && problem === null
    const lastLine = Math.max(startLine, isOver ? line : line - 1)
    const lost = lastLine > startLine ? `; lines ${startLine} to ${lastLine} were not read` : ''
    const row: CsvRow =
      problem === null ? { line: startLine, lastLine, cells } : { line: startLine, problem: problem + lost }
    state = 'start'
    cells = []
    cell = ''
    size = 0
    problem = null
    return isEmpty ? null : row
  }

  for await (let chunk of text) {
    if (isFirst && chunk.startsWith('\ufeff')) chunk = chunk.slice(1)
    isFirst &&= chunk === ''
    for (const c of chunk) {
      if (c === '\n') line++
      if (++size > MAX_ROW) {
        problem ??= `longer than ${MAX_ROW} characters`
        cell = ''
        cells = []
        if (state === 'quoted') state = 'bare' // or an unclosed quote would take the rest of the file
      }
      if (state === 'quoted') {
        if (c === '"') state = 'closed'
        else cell += c
      } else if (c === '\n') {
        const row = finish()
        startLine = line
        if (row !== null) yield row
      } else if (c === ',') {
        cells.push(cell)
        cell = ''
        state = 'start'
      } else if (c === '"' && state === 'start') state = 'quoted'
      else if (c === '"' && state === 'closed') {
        cell += c
        state = 'quoted'
      } else if (c === '\r' && state === 'closed') continue
      else {
        if (c === '"') problem ??= 'a quote inside a cell that does not start with one'
        else if (state === 'closed') problem ??= 'text behind the closing quote of a cell'
        cell += c
        state = 'bare'
      }
    }
  }
  isOver = true
  if (state === 'quoted') problem ??= 'a quote is never closed'
  const row = finish()
  if (row !== null) yield row
}

export const readCsvText = (text: string): AsyncGenerator<CsvRow> => readCsvRows(one(text))

// eslint-disable-next-line @typescript-eslint/require-await
async function* one(text: string) {
  yield text
}
