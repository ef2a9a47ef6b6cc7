import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createOwnedApps } from '../../../../test/owned-apps.ts'
import { PIXEL } from '../../../../test/images.ts'
import { useWorld } from '../../../../test/world.ts'
import { DEFAULTS, type VersionedWallSettings, type WallSettings } from '../../../features/wall/settings-schema.ts'

const world = useWorld('manage_wall')
const { createOwned, auditOf } = createOwnedApps(world)

test('a publisher sets how its wall looks, and the wall shows it', async () => {
  const { base, visitor, live, appId } = await createOwned()
  const { version: _version, ...before } = (await visitor.get<VersionedWallSettings>(`${base}/wall`)).data
  assert.deepEqual(before, DEFAULTS)
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

test('of two people who change a wall or a locker at once, the second sees what the first saved', async () => {
  const { base, visitor } = await createOwned()
  const { data: seen } = await visitor.get<VersionedWallSettings>(`${base}/wall`)
  assert.equal((await visitor.put(`${base}/wall`, { ...seen, require_signature: true })).status, 200)
  assert.equal((await visitor.put(`${base}/wall`, { ...seen, title: 'Ours' })).status, 409)
  const { data: now } = await visitor.get<VersionedWallSettings>(`${base}/wall`)
  assert.equal(now.require_signature, true)
  const { data: saved } = await visitor.put<VersionedWallSettings>(`${base}/wall`, { ...now, title: 'Ours' })
  assert.equal((await visitor.put(`${base}/wall`, { ...saved, title: 'Ours again' })).status, 200)

  type Shown = { locker_id: number; version: string; has_password: boolean }
  const link = { name: 'Map', link: { target_url: 'https://maps.example.com/' } }
  const { data: locker } = await visitor.post<Shown>(`${base}/lockers`, link)
  const path = `${base}/lockers/${locker.locker_id}`
  const change = (version: string, more: object) =>
    visitor.put<Shown>(path, { ...link, ...more, seen_version: version })
  const { data: guarded } = await change(locker.version, { password: 'swordfish' })
  assert.equal((await change(locker.version, { title: 'A map', password: null })).status, 409)
  assert.equal((await visitor.get<Shown>(path)).data.has_password, true)
  assert.equal((await change(guarded.version, { title: 'A map' })).status, 200)
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
  assert.match(shown.text, /"isSigned":true,"isTest":true/)
})
