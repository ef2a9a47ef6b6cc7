/**
 * JSON in pure ASCII: everything else becomes a \u escape. Such text can be written to a socket as latin1 in
 * one piece, which is markedly cheaper than UTF-8, and control characters in it can never be confused with content.
 */
export function asciiJson(value: unknown): string {
  return JSON.stringify(value).replace(/[\u007f-\uffff]/g, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`)
}
