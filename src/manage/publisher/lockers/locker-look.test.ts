// How a locker looks: as the wall of its app, but for what it sets for itself.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createOwnedApps } from '../../../../test/owned-apps.ts'
import { until } from '../../../../test/installation.ts'
import { BROWSER, useWorld } from '../../../../test/world.ts'
import type { Locker, LockerInput } from '../../../features/lockers/schema.ts'
import { DEFAULTS } from '../../../features/wall/settings-schema.ts'

const world = useWorld('manage_locker_look')
const { createOwned } = createOwnedApps(world)

const pageOf = async (url: string) =>
  (await world.app.server.inject({ url, headers: { 'user-agent': BROWSER } })).payload
const LINK = { link: { target_url: 'https://files.example.com/album' } }

test('a locker and a link look as their wall, but for what they set, and follow the wall in the rest', async () => {
  const { base, visitor } = await createOwned()
  const create = async (input: Partial<LockerInput>) =>
    (await visitor.post<Locker>(`${base}/lockers`, { name: 'Locker', ...input })).data
  const plain = await create({})
  const own = await create({ look: { theme: 'dark', radius: 3, light: { accent: '#0a7d33' } } })
  const link = await create({ ...LINK, look: { font: 'serif', dark: { card: '#000011' } } })
  assert.deepEqual([plain.settings.look, own.settings.look?.radius], [null, 3])
  const [ofPlain, ofOwn] = [plain, own].map(({ locker_id }) => `/locker?locker=${locker_id}`) as [string, string]
  assert.match(await pageOf(ofPlain), /data-theme="auto"[^]*--accent:#1b5fd1[^]*--radius:12px/)
  const text = await pageOf(ofOwn)
  assert.match(text, /data-theme="dark"[^]*:root\{--accent:#0a7d33;--on-accent:#ffffff;--background:#f4f6f9/)
  assert.match(text, /--radius:3px/)
  assert.match(await pageOf(new URL(link.url ?? '').pathname), /Georgia[^]*--background:#12161b;--card:#000011/)
  const wall = { ...DEFAULTS, radius: 20, light: { ...DEFAULTS.light, background: '#fffbe6' } }
  assert.equal((await visitor.put(`${base}/wall`, wall)).status, 200)
  await until(async () => (await pageOf(ofOwn)).includes('#fffbe6'))
  assert.match(await pageOf(ofOwn), /--accent:#0a7d33[^]*--radius:3px/)
  const path = `${base}/lockers/${own.locker_id}`
  assert.equal((await visitor.put<Locker>(path, { name: 'Locker', look: null })).data.settings.look, null)
  assert.match(await pageOf(ofOwn), /data-theme="auto"[^]*--accent:#1b5fd1[^]*--radius:20px/)
})

test('what a wall’s look cannot be is refused of a locker’s, by field', async () => {
  const { base, visitor } = await createOwned()
  const problems = async (look: object) =>
    Object.keys((await visitor.post(`${base}/lockers`, { name: 'Locker', look })).error.details ?? {}).toSorted()
  assert.deepEqual(await problems({ light: { accent: 'red;}body{display:none' } }), ['look.light.accent'])
  assert.deepEqual(await problems({ radius: 25, font: 'comic', theme: 'sepia' }), ['look.font', 'look.radius', 'look.theme']) // prettier-ignore
  assert.deepEqual(await problems({ dark: { border: '#000000' } }), ['look.dark.border'])
})
