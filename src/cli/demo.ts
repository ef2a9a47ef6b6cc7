// The demo: on an empty database, offers and an app for testing. Its secret is kept in a file, unlike any other, so
// that every start can print it.
import { randomBytes } from 'node:crypto'
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Db } from '../db/open.ts'
import { listAdvertisers } from '../features/accounts/advertisers.ts'
import type { Actor } from '../features/accounts/audit.ts'
import { provePassword } from '../features/accounts/passwords.ts'
import { createPerson, findPersonByEmail } from '../features/accounts/people.ts'
import { createPublisher, listPublishers } from '../features/accounts/publishers.ts'
import { createApp, findAppOwner, listApps } from '../features/apps/apps.ts'
import { type IssuedCredentials, rotateSecret } from '../features/apps/keys.ts'
import { createSecretHashes } from '../features/apps/secrets.ts'
import { rotateSigningSecret } from '../features/apps/signing-secrets.ts'
import { trustApp } from '../features/apps/trust.ts'
import { DEMO_ADVERTISERS } from '../features/offers/demo.ts'
import { seedOffers, spreadCreation } from '../features/offers/seed.ts'
import { DEMO_RECEIVER, demoAppFile } from '../features/postbacks/demo-receiver.ts'
import { DEFAULTS, saveSettings } from '../features/postbacks/settings.ts'
import { base62 } from '../lib/tokens.ts'
import type { Context } from './context.ts'
import { type DemoApp, readDemoApp } from './demo-app.ts'

const OFFERS = 200
const PUBLISHER = 'Demo publisher'
const APP = 'Demo app'

/** Where `offerdeck listen` hears it. */
const POSTBACK_URL = `${DEMO_RECEIVER}/?user={user_id}&reward={reward}&status={status}&id={transaction_id}&conversion={conversion_id}&test={is_test}&offer={offer_name}&signature={signature}`

/**
 * Fills an empty database; returns the demo app, or null where there is other data. Every step is repeatable, so that a
 * start that was killed half way is finished by the next.
 */
export async function prepareDemo({ config, database: { db }, secretKey, by }: Context): Promise<DemoApp | null> {
  const file = demoAppFile(config.dataDir)
  if (existsSync(file)) return stillGood(db, secretKey, readDemoApp(config.dataDir))
  const publishers = await listPublishers(db)
  const advertisers = await listAdvertisers(db)
  const isOurs =
    publishers.every(({ name }) => name === PUBLISHER) &&
    advertisers.every(({ name }) => DEMO_ADVERTISERS.includes(name))
  if (!isOurs) return null
  if ((await seedOffers(db, OFFERS)) > 0) await spreadCreation(db)
  const { publisher_id } = publishers[0] ?? (await createPublisher(db, by, PUBLISHER))
  const demo = await issueDemoApp(db, by, secretKey, publisher_id)
  // So that the first conversion is approved, and its postback seen, at once.
  await trustApp(db, by, demo.app_id, 'all')
  await saveSettings(db, by, secretKey, demo.app_id, { ...DEFAULTS, url: POSTBACK_URL })
  writeFileSync(`${file}.new`, `${JSON.stringify(demo, null, 2)}\n`, { mode: 0o600 })
  renameSync(`${file}.new`, file)
  return demo
}

export type DemoPerson = { about: string; email: string; password: string }

/** Accounts of the demo, kept in a file like its secret; those whose password was changed are no longer the demo's. */
export async function prepareDemoPeople({ config, database: { db } }: Context, demo: DemoApp): Promise<DemoPerson[]> {
  const file = demoPeopleFile(config.dataDir)
  if (existsSync(file)) return JSON.parse(readFileSync(file, 'utf8')) as DemoPerson[]
  const app = await findAppOwner(db, demo.app_id)
  const wanted = [
    { about: 'operator', email: 'operator@demo.example', role: 'operator', publisherId: null },
    {
      about: 'publisher',
      email: 'publisher@demo.example',
      role: 'publisher_owner',
      publisherId: app?.publisherId ?? null,
    },
  ] as const
  const people = wanted.map((one) => ({ ...one, password: base62(randomBytes(12), 16) }))
  const shown = people.map(({ about, email, password }) => ({ about, email, password }))
  writeFileSync(file, `${JSON.stringify(shown, null, 2)}\n`, { mode: 0o600 })
  for (const { about, ...person } of people)
    if ((await findPersonByEmail(db, person.email)) === null)
      await createPerson(db, { ...person, name: `Demo ${about}` })
  return shown
}

/** What of the demo is still open to anyone who saw its start's output: for a network that others can reach. */
export async function findDemoLeftovers({ config, database: { db }, secretKey }: Context): Promise<string[]> {
  const read = <T>(file: string) => (existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as T) : null)
  const found: string[] = []
  for (const { email, password } of read<DemoPerson[]>(demoPeopleFile(config.dataDir)) ?? []) {
    const person = await findPersonByEmail(db, email)
    if (person === null || person.disabled_at !== null) continue
    if ((await provePassword(db, person.id, password)) !== null) found.push(`the account ${email}`)
  }
  const demo = readDemoApp(config.dataDir)
  if (demo !== null && (await stillGood(db, secretKey, demo)) !== null) found.push(`app ${demo.app_id}`)
  return found
}

const demoPeopleFile = (dataDir: string) => join(dataDir, 'demo-people.json')

/** Null when its secret was rotated or its key revoked: then it is no longer the demo's. */
async function stillGood(db: Db, secretKey: string, demo: DemoApp | null): Promise<DemoApp | null> {
  if (demo === null) return null
  const hashes = createSecretHashes(secretKey)(demo.live.api_secret)
  const found = await db
    .selectFrom('api_secrets')
    .innerJoin('credentials', 'credentials.api_key', 'api_secrets.api_key')
    .select('hash')
    .where('hash', 'in', hashes)
    .where('api_secrets.expires_at', 'is', null)
    .where('revoked_at', 'is', null)
    .executeTakeFirst()
  return found === undefined ? null : demo
}

async function issueDemoApp(db: Db, by: Actor, secretKey: string, publisherId: number): Promise<DemoApp> {
  const made = (await listApps(db)).find(({ name, mode }) => name === APP && mode === 'live')
  if (made !== undefined) {
    const rotate = async (mode: 'live' | 'test'): Promise<IssuedCredentials> => {
      const { api_key, api_secret } = await rotateSecret(db, by, secretKey, made.app_id, mode, 0)
      const { signing_secret } = await rotateSigningSecret(db, by, secretKey, made.app_id, mode, 0)
      return { api_key, api_secret, signing_secret }
    }
    return { app_id: made.app_id, live: await rotate('live'), test: await rotate('test') }
  }
  const { app_id, live, test } = await createApp(db, by, secretKey, {
    publisherId,
    name: APP,
    currency: 'Coins',
    rateMicros: 100_000_000,
    rateLimit: 100,
    expiresAt: null,
    blockedCategories: [],
    blockedKeywords: [],
    paymentOffers: true,
  })
  return { app_id, live, test }
}
