// Reads a JSON array of objects as a stream: each element with the line it starts on, parsed separately. So an array of
// any length takes little memory, and one broken element does not affect the rest.

const MAX_ELEMENT = 1_000_000

type State = 'before' | 'between' | 'inside' | 'after'

/** With its number in the array, where it does not begin on a line of its own. */
export type JsonRow = { line: number; value: unknown; element?: number } | { line: number; problem: string }

export async function* readJsonRows(text: AsyncIterable<string>): AsyncGenerator<JsonRow> {
  let line = 1
  let depth = 0
  let inString = false
  let escaped = false
  let element = '' // the part of the current element that came in chunks before
  let startLine = 0
  let count = 0
  let isAlone = true
  let state = 'before' as State

  for await (const chunk of text) {
    let start = 0
    for (let i = 0; i < chunk.length; i++) {
      const c = chunk.charCodeAt(i)
      if (c === 10) line++
      if (state === 'inside') {
        if (inString) {
          if (escaped) escaped = false
          else if (c === 92) escaped = true
          else if (c === 34) inString = false
          continue
        }
        if (c === 34) inString = true
        else if (c === 123 || c === 91) depth++
        else if ((c === 125 || c === 93) && depth > 0) depth--
        else if (depth === 0 && (c === 44 || c === 93)) {
          yield parse(element + chunk.slice(start, i), startLine, isAlone ? undefined : count)
          element = ''
          state = c === 44 ? 'between' : 'after'
        }
        continue
      }
      if (c === 32 || c === 9 || c === 10 || c === 13 || c === 0xfeff) continue
      if (state === 'before') {
        if (c !== 91) return yield { line, problem: 'the file is not a JSON array: it must start with [' }
        state = 'between'
      } else if (state === 'between') {
        if (c === 93) state = 'after'
        else {
          state = 'inside'
          count++
          isAlone = startLine !== line
          startLine = line
          start = i
          i-- // read this character again, as part of the element
        }
      } else return yield { line, problem: 'there is something after the end of the array' }
    }
    if (state === 'inside') {
      element += chunk.slice(start)
      if (element.length > MAX_ELEMENT)
        return yield { line: startLine, problem: 'the element does not end; the rest of the file was not read' }
    }
  }
  if (state === 'before') yield { line, problem: 'the file is empty' }
  else if (state !== 'after') yield { line: startLine || line, problem: 'the file ends inside the array' }
}

function parse(text: string, line: number, element: number | undefined): JsonRow {
  try {
    const value = JSON.parse(text) as unknown
    return element === undefined ? { line, value } : { line, value, element }
  } catch {
    return { line, problem: element === undefined ? 'not valid JSON' : `element ${element}: not valid JSON` }
  }
}
