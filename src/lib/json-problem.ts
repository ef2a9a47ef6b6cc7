/** Why a text is not JSON, as the end of a sentence that begins with it; null where it is. */
export function findJsonProblem(text: string): string | null {
  try {
    JSON.parse(text)
    return null
  } catch (error) {
    // V8 names a position, or the token that it did not expect, or neither where the text ends.
    const [, token, position] = /Unexpected token '(.+?)',| position (\d+)/su.exec((error as Error).message) ?? []
    if (token !== undefined) return `is not valid JSON: “${token}” cannot be there`
    if (position === undefined || Number(position) >= text.length) return 'is not valid JSON: it ends too early'
    const before = text.slice(0, Number(position))
    const place = `line ${before.split('\n').length}, column ${before.length - before.lastIndexOf('\n')}`
    const isTrailing = /,\s*$/.test(before) && /^[}\]]/.test(text.slice(Number(position)))
    return `is not valid JSON: ${isTrailing ? `remove the comma before ${place}` : `see ${place}`}`
  }
}
