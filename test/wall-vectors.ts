// Users of a wall as a publisher's server signs them: shared by the examples of all languages and the client. After a
// change: node test/wall-vectors.ts > examples/sign-wall-user/vectors.json
import { createHash } from 'node:crypto'
import { signUser } from '../src/features/wall/signature.ts'

export type WallVector = {
  name: string
  secret: string
  api_key: string
  user_id: string
  /** Unix seconds. */
  expires_at: number
  signature: string
}

const EXPIRES_AT_S = 1_794_719_785
const createSecret = (name: string) => `whsec_${createHash('sha512').update(name).digest().subarray(0, 32).toString('base64')}` // prettier-ignore
const SECRET = createSecret('the secret of the live key')

export function createWallVectors(): WallVector[] {
  return [
    vector('a plain user', 'user-1'),
    vector('another user', 'user-2'),
    vector('another time', 'user-1', { expires_at: EXPIRES_AT_S + 1 }),
    vector('another key', 'user-1', { api_key: 'pk_test_5nGfQ2RkXw', secret: createSecret('the secret of the test key') }),
    vector('the shortest secret', 'user-1', { secret: `whsec_${Buffer.alloc(24, 7).toString('base64')}` }),
    vector('the longest secret', 'user-1', { secret: `whsec_${Buffer.alloc(64, 9).toString('base64')}` }),
    vector('letters of other languages', 'Zoë 王小明'),
    vector('an emoji', '😀'),
    vector('spaces at both ends', ' user 1 '),
    vector('a line break', 'user\n1'),
    vector('what a URL would need encoded', 'a+b&c=d/e?f#g%41'),
    vector('quotes and a backslash', `'"\\`),
    vector('as long as it may be', 'x'.repeat(256)),
  ] // prettier-ignore
}

function vector(name: string, user_id: string, other: Partial<WallVector> = {}): WallVector {
  const signed = { secret: SECRET, api_key: 'pk_live_8zKq4TvYmd', expires_at: EXPIRES_AT_S, ...other }
  const { secret, api_key: apiKey, expires_at: expiresAtS } = signed
  return { name, ...signed, user_id, signature: signUser(secret, { apiKey, userId: user_id, expiresAtS }) }
}

if (import.meta.main) process.stdout.write(`${JSON.stringify(createWallVectors(), null, 2)}\n`)
