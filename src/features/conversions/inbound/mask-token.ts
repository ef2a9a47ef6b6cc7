// Calls are stored without the token that they carried.
import { looksLikeJson } from './parameters.ts'

const MASK = '********'
const TOKEN = /adv_[A-Za-z0-9]+/g
const holdsToken = (text: string) => text.includes('adv_')
const isTokenName = (text: string) => text.trim().toLowerCase() === 'token'

/** The text of a query or a body without its token, however the token is encoded; the rest stays as it is. */
export function maskToken(text: string): string {
  return (looksLikeJson(text) ? maskJson(text) : maskForm(text)).replaceAll(TOKEN, MASK)
}

function maskForm(text: string): string {
  const pairs = text.split('&').map((pair) => {
    if (pair === '') return pair
    const [[name, value] = ['', '']] = new URLSearchParams(pair)
    if (holdsToken(name)) return MASK
    return isTokenName(name) || holdsToken(value) ? `${pair.split('=', 1)[0]}=${MASK}` : pair
  })
  return pairs.join('&')
}

// A string, even unterminated, a word or number, or a sign.
const JSON_PIECE = /"(?:[^"\\]|\\.)*(?:"|\\?$)|[^"\s,:{}[\]]+|[,:{}[\]]/gs

/** Token by token, not as a whole: malformed JSON must not be stored with its token either. */
function maskJson(text: string): string {
  let [name, sign] = ['', '']
  return text.replaceAll(JSON_PIECE, (piece) => {
    const isToken = sign === ':' && isTokenName(unquote(name)) && piece !== '{' && piece !== '['
    ;[name, sign] = [sign, piece]
    if (isToken) return `"${MASK}"`
    return holdsToken(unquote(piece)) ? JSON.stringify(unquote(piece).replaceAll(TOKEN, MASK)) : piece
  })
}

function unquote(piece: string): string {
  if (!piece.startsWith('"')) return piece
  const plain = piece.replaceAll(/\\u([\da-f]{4})/gi, (_, code: string) => String.fromCharCode(parseInt(code, 16)))
  return plain.slice(1, plain.endsWith('"') ? -1 : undefined)
}
