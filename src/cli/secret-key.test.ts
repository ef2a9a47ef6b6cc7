// Starting with another secret key, and replacing it, as an operator does it.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { Installation } from '../../test/installation.ts'
import { failsWith } from '../../test/operator.ts'
import { databaseUrl, useWorld } from '../../test/world.ts'
import { createPublisher } from '../features/accounts/publishers.ts'
import { findKeyProblem, useSecretKey } from '../features/accounts/secret-keys.ts'
import { createApp } from '../features/apps/apps.ts'
import { TESTER } from '../../test/tester.ts'

const FIRST = 'the first secret key, which is long enough'
const SECOND = 'the second secret key, which is long enough'

const home = new Installation()
after(() => home.remove())
const world = useWorld('secret_key_command')

const FROM_FIRST = { SECRET_KEY: SECOND, SECRET_KEY_OLD: FIRST }

test('a different SECRET_KEY than the database’s is refused, doctor says so, and it can be replaced', async () => {
  const { db } = world.database
  await useSecretKey(db, FIRST)
  const { publisher_id } = await createPublisher(db, TESTER, 'P')
  await createApp(db, TESTER, FIRST, { ...APP, publisherId: publisher_id })
  const run = (keys: Record<string, string>, ...args: string[]) =>
    home.run(args, { ...keys, DATABASE_URL: databaseUrl(world) })

  failsWith(await run({ SECRET_KEY: SECOND }, 'app', 'list'), /SECRET_KEY is not the one/)
  failsWith(await run({ SECRET_KEY: SECOND }, 'serve'), /SECRET_KEY is not the one that this database is used with/)
  const doctor = await run({ SECRET_KEY: SECOND }, 'doctor')
  assert.equal(doctor.status, 1)
  assert.match(doctor.out, /FAIL +key +SECRET_KEY is not the one .*\n +→ Set it to that of the other nodes/)

  failsWith(
    await run({ SECRET_KEY: FIRST }, 'secret-key', 'rotate'),
    /Set SECRET_KEY to the new key and SECRET_KEY_OLD/,
  )
  const { out } = await run(FROM_FIRST, 'secret-key', 'rotate')
  assert.match(out, /signing secrets +2 re-encrypted/)
  assert.match(out, /API secrets +2 not used since SECRET_KEY was set/)
  assert.match((await findKeyProblem(db, SECOND)) ?? '', /^SECRET_KEY_OLD is missing/)
  const given = await run(FROM_FIRST, 'secret-key', 'rotate', '--retire', '--yes')
  assert.match(given.out, /API secrets +2 dropped\n\nSECRET_KEY_OLD is no longer needed/)
  assert.equal(await findKeyProblem(db, SECOND), null)
})

const APP = {
  name: 'App',
  currency: 'Coins',
  rateMicros: 1_000_000,
  rateLimit: 100,
  expiresAt: null,
  blockedCategories: [],
  blockedKeywords: [],
  paymentOffers: true,
}
