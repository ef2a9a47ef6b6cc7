import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
// Copy from here
import { createHmac, timingSafeEqual } from 'node:crypto'

/** By its headers. `content` is the body of a POST as it came, a Buffer; of a GET, the whole URL. */
export function verifyPostback(secrets, headers, content, now = Date.now() / 1000) {
  const id = headers['webhook-id']
  const timestamp = headers['webhook-timestamp']
  const signatures = headers['webhook-signature']
  if (!id || !signatures || !/^[0-9]{1,12}$/.test(timestamp ?? '')) return false
  if (Math.abs(now - Number(timestamp)) > 300) return false
  return secrets.some((secret) => {
    const key = keyOf(secret)
    const expected = createHmac('sha256', key).update(`${id}.${timestamp}.`).update(content).digest('base64')
    return signatures.split(' ').some((signature) => isSame(signature, `v1,${expected}`))
  })
}

/** By the {signature} at the end of its URL. */
export function verifySignature(secrets, url) {
  return secrets.some((secret) => {
    const key = keyOf(secret)
    return isSame(url.slice(-64), createHmac('sha256', key).update(url.slice(0, -64)).digest('hex'))
  })
}

/** Without a key anyone could sign. */
function keyOf(secret) {
  const key = Buffer.from(secret.replace('whsec_', ''), 'base64')
  if (key.length === 0) throw new Error('The signing secret must be whsec_ and base64.')
  return key
}

function isSame(given, expected) {
  const [a, b] = [Buffer.from(given), Buffer.from(expected)]
  return a.length === b.length && timingSafeEqual(a, b)
}
// to here. The rest tries it: node node.mjs < vectors.json

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  for (const { name, proof, secrets, headers, content, now, expect } of JSON.parse(readFileSync(0, 'utf8'))) {
    const isOurs =
      proof === 'headers' ? verifyPostback(secrets, headers, content, now) : verifySignature(secrets, content)
    const isRight = isOurs === (expect === 'ok')
    process.stdout.write(`${isRight ? 'pass' : 'FAIL'}  ${name}\n`)
    if (!isRight) process.exitCode = 1
  }
}
