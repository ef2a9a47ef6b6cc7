// What is wrong with the credentials of a request, as precisely as is safe: what the request itself shows, always; what
// happened to a key, only to a caller with its valid secret. So guessing reveals neither which keys exist nor a
// publisher's status.
import type { FastifyRequest } from 'fastify'
import { AppError } from '../errors.ts'
import { rfc3339 } from '../lib/time.ts'
import { hasValidChecksum } from '../lib/tokens.ts'
import { parseNames } from './query.ts'

/** Why a credential does not work whatever its time; null: it does. */
export type Closure = 'revoked' | 'suspended' | 'pending'

const CLOSED: Record<Closure, string> = {
  revoked: 'This API key was revoked. Use the key of another app, or create one.',
  suspended: 'The publisher of this API key is suspended. Ask the operator.',
  pending: 'The publisher of this API key awaits approval. Until then, use the test key.',
}

const HOW = 'Send it as the header X-API-Key or the parameter apiKey.'

type Given = { key: string | null; secret: string | null; isKeyAmbiguous: boolean }

export function missingKey(request: FastifyRequest, { key, secret, isKeyAmbiguous }: Given): AppError {
  const message =
    (isKeyAmbiguous
      ? 'The API key was sent twice with different values, or cannot be decoded. Send one.'
      : key === null || key === ''
        ? `No API key was sent. ${misplaced(request) ?? HOW}`
        : null) ?? misshapen(key ?? '', secret)
  const general = 'The API key is unknown, or no longer valid. Check it against the credentials of your app.'
  return new AppError('INVALID_API_KEY', message ?? general, { apiKey: message ?? general })
}

/** To a caller with the right secret. */
export function closedKey(closure: Closure | null, expiresAtMs: number): AppError {
  const message =
    closure === null
      ? `This API key expired on ${rfc3339(new Date(expiresAtMs))}. Ask the operator to extend it.`
      : CLOSED[closure]
  return new AppError('INVALID_API_KEY', message, { apiKey: message })
}

export function wrongSecret(secret: string | null, isAmbiguous: boolean): AppError {
  const message = isAmbiguous
    ? 'The API secret was sent twice with different values, or cannot be decoded. Send one.'
    : secret === null || secret === ''
      ? 'No API secret was sent. Send it as the header X-API-Secret or the parameter apiSecret.'
      : 'The API secret does not belong to this API key.'
  return new AppError('INVALID_API_SECRET', message, { apiSecret: message })
}

function misshapen(key: string, secret: string | null): string | null {
  if (/^sk_(live|test)_/.test(key))
    return secret?.startsWith('pk_')
      ? 'API key and API secret are swapped: the key begins with pk_, the secret with sk_.'
      : 'An API secret was sent as the API key. The key begins with pk_.'
  if (!/^pk_(live|test)_/.test(key)) return 'This is not an API key: those begin with pk_live_ or pk_test_.'
  return hasValidChecksum(key) ? null : 'This API key is incomplete or misspelled: its last characters do not match.'
}

/** Where else the credentials may be: in a header or parameter of another name. */
function misplaced({ headers, url }: FastifyRequest): string | null {
  if (headers.authorization !== undefined)
    return 'The Authorization header is not used here: send the headers X-API-Key and X-API-Secret.'
  const looksLikeKey = (name: string) => /^(x-?)?(api-?)?key$/.test(name.toLowerCase().replaceAll('_', '-'))
  const header = Object.keys(headers).find((name) => name !== 'x-api-key' && looksLikeKey(name))
  if (header !== undefined) return `There is a header ${header}; its name must be X-API-Key.`
  const parameter = parseNames(url).find((name) => name !== 'apiKey' && looksLikeKey(name))
  if (parameter !== undefined) return `There is a parameter ${parameter}; its name must be apiKey.`
  return null
}
