import assert from 'node:assert/strict'
import { test } from 'node:test'
import { gunzipSync } from 'node:zlib'
import { useWorld } from '../../test/world.ts'

const world = useWorld('prepared')
const LARGE = ['/openapi.json', '/docs/v1.json', '/docs/manage.json', '/docs/reference.js']

test('the description and the script of its pages are sent compressed to who takes it', async () => {
  for (const url of LARGE) {
    const plain = await world.app.server.inject(url)
    const packed = await world.app.server.inject({ url, headers: { 'accept-encoding': 'gzip, br' } })
    assert.deepEqual([plain.headers['content-encoding'], packed.headers['content-encoding']], [undefined, 'gzip'], url)
    assert.deepEqual([plain.headers.vary, packed.headers.vary], ['Accept-Encoding', 'Accept-Encoding'], url)
    assert.equal(packed.headers['content-type'], plain.headers['content-type'], url)
    assert.equal(gunzipSync(packed.rawPayload).toString(), plain.body, url)
    assert.ok(packed.rawPayload.length < plain.rawPayload.length / 3, url)
  }
})

test('a client that rules gzip out is sent nothing compressed', async () => {
  const isPacked = async (accepted: string) => {
    const { headers } = await world.app.server.inject({
      url: '/docs/v1.json',
      headers: { 'accept-encoding': accepted },
    })
    return headers['content-encoding'] === 'gzip'
  }
  for (const no of ['gzip;q=0, *;q=0', 'br, gzip; q=0.0', 'gzip;q=0', 'identity', '']) assert.equal(await isPacked(no), false, no) // prettier-ignore
  for (const yes of ['gzip;q=0.1', 'gzip;q=1.0, br', 'GZIP', 'br;q=0, gzip']) assert.equal(await isPacked(yes), true, yes) // prettier-ignore
})

test('a client that has the description is sent nothing again', async () => {
  const etags = new Set<unknown>()
  for (const url of LARGE) {
    const { headers } = await world.app.server.inject(url)
    etags.add(headers.etag)
    const again = await world.app.server.inject({ url, headers: { 'if-none-match': `"x", ${String(headers.etag)}` } })
    assert.deepEqual([again.statusCode, again.body, again.headers.etag], [304, '', headers.etag], url)
    const other = await world.app.server.inject({ url, headers: { 'if-none-match': 'W/"x"' } })
    assert.equal(other.statusCode, 200, url)
  }
  assert.equal(etags.size, LARGE.length)
})
