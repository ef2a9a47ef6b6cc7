import assert from 'node:assert/strict'
import { test } from 'node:test'
import { GIF, PIXEL, pngOf, WEBP_LOSSLESS, WEBP_LOSSY } from '../../../../test/images.ts'
import { startExplained } from '../../../../test/explain.ts'
import { visit } from '../../../../test/people.ts'
import { useWorld } from '../../../../test/world.ts'
import { readImageFormat } from '../../../lib/image-format.ts'

const world = useWorld('images')

const upload = async (content: Buffer) =>
  (await visit(world, 'operator')).post<{ path: string; type: string; width: number; height: number }>('/images', {
    content: content.toString('base64'),
  })

/** As a camera begins one: a comment, a table, then the frame. */
const JPEG = Buffer.from('ffd8ffe000104a46494600010100000100010000fffe00046869ffc4000500000affc20011080140028003011100021101031101ffda', 'hex') // prettier-ignore

test('an image is known by its bytes', () => {
  assert.deepEqual(readImageFormat(PIXEL), { extension: 'png', width: 1, height: 1 })
  assert.deepEqual(readImageFormat(GIF), { extension: 'gif', width: 1, height: 1 })
  assert.deepEqual(readImageFormat(WEBP_LOSSY), { extension: 'webp', width: 1, height: 1 })
  assert.deepEqual(readImageFormat(WEBP_LOSSLESS), { extension: 'webp', width: 1, height: 1 })
  assert.deepEqual(readImageFormat(JPEG), { extension: 'jpg', width: 640, height: 320 })
  for (const length of [0, 1, 8, 31]) assert.equal(readImageFormat(JPEG.subarray(0, length)), null)
  for (let length = 32; length < JPEG.length - 12; length++) assert.equal(readImageFormat(JPEG.subarray(0, length)), null) // prettier-ignore
  for (const text of [
    '<svg xmlns="http://www.w3.org/2000/svg"></svg>',
    '<!doctype html><script>1</script>       ',
    'GIF86a'.padEnd(40),
  ])
    // prettier-ignore
    assert.equal(readImageFormat(Buffer.from(text)), null)
})

test('an uploaded image is served by every node, for good, and as nothing but an image', async () => {
  const { status, data } = await upload(PIXEL)
  assert.equal(status, 200)
  assert.match(data.path, /^\/images\/[0-9a-f]{32}\.png$/)
  assert.deepEqual([data.type, data.width, data.height], ['image/png', 1, 1])
  assert.equal((await upload(PIXEL)).data.path, data.path, 'the same image again')
  for (const _ of ['from the database', 'from memory']) {
    const reply = await world.app.server.inject(data.path)
    assert.deepEqual([reply.statusCode, reply.rawPayload.equals(PIXEL)], [200, true])
    assert.equal(reply.headers['content-type'], 'image/png')
    assert.equal(reply.headers['x-content-type-options'], 'nosniff')
    assert.equal(reply.headers['content-security-policy'], "default-src 'none'; sandbox")
    assert.equal(reply.headers['cache-control'], 'public, max-age=31536000, immutable')
  }
  for (const path of [`/images/${'0'.repeat(32)}.png`, data.path.replace('.png', '.gif'), '/images/x.svg'])
    assert.equal((await world.app.server.inject(path)).statusCode, 404, path)
})

test('what is no image, or too large a one, is refused', async () => {
  const because = async (content: Buffer) => (await upload(content)).error.details?.['content']
  assert.equal(await because(Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"></svg>')), 'Use a PNG, JPEG, WebP or GIF image.') // prettier-ignore
  assert.equal(await because(pngOf(5_000, 10)), 'An image must not be larger than 4096 pixels on each side.')
  assert.equal(await because(pngOf(0, 10)), 'This image is empty.')
  assert.equal(await because(Buffer.concat([PIXEL, Buffer.alloc(1_048_576)])), 'An image must not be larger than 1 MB.')
  const operator = await visit(world, 'operator')
  const { error } = await operator.post('/images', { content: 'data:image/png;base64,not!' })
  assert.equal(error.details?.['content'], 'Use a PNG, JPEG, WebP or GIF image.')
  const inLines = `${PIXEL.toString('base64')}\n`
  assert.equal((await operator.post('/images', { content: inLines })).status, 200)
})

test('requests for images that do not exist share a query, and keep none that does waiting', async () => {
  const { path } = (await upload(pngOf(5, 5))).data
  const explained = await startExplained(world)
  try {
    const unknown = Array.from({ length: 300 }, (_, i) => `/images/${String(i).padStart(32, '0')}.png`)
    const statements = await explained.explain(async () => {
      const replies = await Promise.all([...unknown, path].map((one) => explained.app.server.inject(one)))
      assert.deepEqual(replies.map(({ statusCode }) => statusCode), [...unknown.map(() => 404), 200]) // prettier-ignore
    })
    assert.equal(statements.filter(({ text }) => text.includes('"images"')).length, 2)
  } finally {
    await explained.close()
  }
})

test('an image that is neither of an offer nor the logo is deleted after a month, with a later upload', async () => {
  const { db } = world.database
  const pictures = [pngOf(2, 2), pngOf(3, 3), pngOf(4, 4)]
  const [unused = '', used = '', logo = ''] = await Promise.all(
    pictures.map(async (png) => (await upload(png)).data.path),
  )
  await (await visit(world, 'operator')).put('/system/logo', { path: logo })
  const [offerId = 0] = await world.createOffers({})
  await db
    .updateTable('offers')
    .set({ image_url: `https://offers.test${used}?v=1` })
    .where('offer_id', '=', offerId)
    .execute()
  await db
    .updateTable('images')
    .set({ created_at: new Date(Date.now() - 31 * 86_400_000) })
    .execute()
  await upload(GIF)
  const names = (await db.selectFrom('images').select('name').execute()).map(({ name }) => `/images/${name}`)
  assert.deepEqual(
    [used, logo, unused].map((path) => names.includes(path)),
    [true, true, false],
  )
})
