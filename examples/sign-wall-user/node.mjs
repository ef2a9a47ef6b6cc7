import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

// Copy from here
import { createHmac } from 'node:crypto'

/** The `sig` of a wall. `expiresAt` is its `exp`: Unix seconds, at most a day from now. */
export function signWallUser(secret, apiKey, userId, expiresAt) {
  const key = Buffer.from(secret.replace('whsec_', ''), 'base64')
  if (key.length === 0) throw new Error('The signing secret must be whsec_ and base64.')
  return createHmac('sha256', key).update(`wall.v1\n${apiKey}\n${expiresAt}\n${userId}`).digest('hex')
}
// to here. The rest tries it: node node.mjs < vectors.json

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  for (const { name, secret, api_key, user_id, expires_at, signature } of JSON.parse(readFileSync(0, 'utf8'))) {
    const isRight = signWallUser(secret, api_key, user_id, expires_at) === signature
    process.stdout.write(`${isRight ? 'pass' : 'FAIL'}  ${name}\n`)
    if (!isRight) process.exitCode = 1
  }
}
