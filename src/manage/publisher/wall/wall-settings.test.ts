import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createOwnedApps } from '../../../../test/owned-apps.ts'
import { PIXEL } from '../../../../test/images.ts'
import { useWorld } from '../../../../test/world.ts'
import { DEFAULTS, type WallSettings } from '../../../features/wall/settings-schema.ts'

const world = useWorld('manage_wall')
const { createOwned, auditOf } = createOwnedApps(world)

test('a publisher sets how its wall looks, and the wall shows it', async () => {
  const { base, visitor, live, appId } = await createOwned()
  assert.deepEqual((await visitor.get<WallSettings>(`${base}/wall`)).data, DEFAULTS)
  const { data: image } = await visitor.post<{ path: string }>(`${base}/wall/images`, {
    content: PIXEL.toString('base64'),
  })
  const settings = { ...DEFAULTS, title: 'Our offers', logo: image.path, parents: ['https://a.example', 'https://a.example'], radius: 3 } // prettier-ignore
  const saved = await visitor.put<WallSettings>(`${base}/wall`, settings)
  assert.deepEqual([saved.status, saved.data.parents], [200, ['https://a.example']])
  const { text, headers } = await world.get(`/wall?apiKey=${live.api_key}&userId=u`)
  assert.match(text, /<title>Our offers<\/title>/)
  assert.match(text, /--radius:3px/)
  assert.ok(text.includes(image.path))
  assert.match(headers['content-security-policy'] ?? '', /frame-ancestors 'self' https:\/\/a\.example$/)
  assert.deepEqual((await auditOf(appId)).map(({ action }) => action), ['wall.change']) // prettier-ignore
})

test('what a wall cannot have is refused by field', async () => {
  const { base, visitor } = await createOwned()
  const problems = async (more: object) =>
    Object.keys((await visitor.put(`${base}/wall`, { ...DEFAULTS, ...more })).error.details ?? {}).toSorted()
  assert.deepEqual(await problems({ parents: ["https://a.example; script-src 'unsafe-inline'"] }), ['parents'])
  assert.deepEqual(await problems({ parents: ['https://a.example/path', 'javascript:alert(1)'] }), ['parents'])
  assert.deepEqual(await problems({ light: { ...DEFAULTS.light, accent: 'red;}body{display:none' } }), ['light.accent'])
  assert.deepEqual(await problems({ logo: 'javascript:alert(1)', radius: 99 }), ['logo', 'radius'])
  assert.deepEqual(await problems({ hero: `/images/${'0'.repeat(32)}.png` }), ['hero'])
  assert.deepEqual(await problems({ title: 'x'.repeat(81) }), ['title'])
})

test('the preview is that of a signed test user, also where signatures are required', async () => {
  const { base, visitor } = await createOwned()
  await visitor.put(`${base}/wall`, { ...DEFAULTS, require_signature: true })
  const { data } = await visitor.get<{ path: string }>(`${base}/wall/preview`)
  const shown = await world.get(data.path)
  assert.equal(shown.status, 200, shown.text)
  assert.match(shown.text, /"isSigned":true,"isBanned":false,"isTest":true/)
})
