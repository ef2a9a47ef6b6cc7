// What API keys and secrets look like: pk_live_…, pk_test_…, sk_live_…, sk_test_…, whsec_….
import { randomBytes } from 'node:crypto'
import { base62, withChecksum } from '../../lib/tokens.ts'

export { createSecretHash, createSecretHashes, hasValidChecksum } from '../../lib/tokens.ts'

export type Mode = 'live' | 'test'

export const modeOf = (isTest: boolean): Mode => (isTest ? 'test' : 'live')

/** Public: 128 random bits. */
export const createApiKey = (mode: Mode): string => withChecksum(`pk_${mode}_${base62(randomBytes(16), 22)}`)

/** Private: 256 random bits. */
export const createApiSecret = (mode: Mode): string => withChecksum(`sk_${mode}_${base62(randomBytes(32), 43)}`)

/** In the form the Standard Webhooks libraries take. */
export const createSigningSecret = (): string => `whsec_${randomBytes(32).toString('base64')}`
