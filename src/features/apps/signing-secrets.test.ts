import assert from 'node:assert/strict'
import { test } from 'node:test'
import { SECRET_KEY, useWorld } from '../../../test/world.ts'
import { readApp } from './read-app.ts'
import { readSigningSecrets, rotateSigningSecret, signingKeyOf } from './signing-secrets.ts'
import { TESTER } from '../../../test/tester.ts'

const world = useWorld('signing_secrets')
const HOUR_MS = 3_600_000

test('every secret signs until its own grace is over, however often it was rotated', async () => {
  const { db } = world.database
  const { appId } = await world.createApp()
  const read = async () => (await readSigningSecrets(db, SECRET_KEY, [appId])).get(signingKeyOf(appId, false)) ?? []
  const rotate = async (graceMs: number) =>
    (await rotateSigningSecret(db, TESTER, SECRET_KEY, appId, 'live', graceMs)).signing_secret
  const [first] = (await read()) as [string]
  const second = await rotate(HOUR_MS)
  const third = await rotate(2 * HOUR_MS)
  assert.deepEqual(await read(), [third, second, first])
  const fourth = await rotate(0) // the one before ends at once; those before it keep their grace
  assert.deepEqual(await read(), [fourth, second, first])
  const { credentials } = await readApp(db, appId, new Date())
  assert.ok(credentials.some((one) => one.old_signing_secret_expires_at !== null))
})
