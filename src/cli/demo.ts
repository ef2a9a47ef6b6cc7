// The demo: on an empty database, offers and an app for testing. Its secret is kept in a file, unlike any other, so
// that every start can print it.
import { randomBytes } from 'node:crypto'
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Config } from '../config.ts'
import type { Db } from '../db/open.ts'
import { listAdvertisers } from '../features/accounts/advertisers.ts'
import type { Actor } from '../features/accounts/audit.ts'
import { provePassword } from '../features/accounts/passwords.ts'
import { createPerson, findPersonByEmail } from '../features/accounts/people.ts'
import { createPublisher, listPublishers } from '../features/accounts/publishers.ts'
import { createApp, findAppOwner, listApps } from '../features/apps/apps.ts'
import { type IssuedCredentials, rotateSecret } from '../features/apps/keys.ts'
import { createSecretHashes } from '../features/apps/secrets.ts'
import { readSigningSecrets, rotateSigningSecret, signingKeyOf } from '../features/apps/signing-secrets.ts'
import { trustApp } from '../features/apps/trust.ts'
import { DEMO_ADVERTISERS } from '../features/offers/demo.ts'
import { leadToDemo, seedOffers, spreadCreation } from '../features/offers/seed.ts'
import { demoPostbackUrl } from '../demo/routes.ts'
import { DEMO_LOCKERS, type DemoSite } from '../demo/site.ts'
import { createLocker, findLocker, listLockers, MAX_OF_APP } from '../features/lockers/lockers.ts'
import { DEMO_RECEIVER, demoAppFile, demoSiteFile } from '../features/postbacks/demo-receiver.ts'
import { DEFAULTS, readSettings, saveSettings } from '../features/postbacks/settings.ts'
import { base62 } from '../lib/tokens.ts'
import type { Context } from './context.ts'
import { type DemoApp, readDemoApp } from './demo-app.ts'

const OFFERS = 200
const PUBLISHER = 'Demo publisher'
const APP = 'Demo app'
const SITE = 'Pixel Harbor'

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
  const demo = await issueApp(db, by, secretKey, publisher_id, APP)
  // So that the first conversion is approved, and its postback seen, at once.
  await trustApp(db, by, demo.app_id, 'all')
  await saveSettings(db, by, secretKey, demo.app_id, { ...DEFAULTS, url: POSTBACK_URL })
  writeFileSync(`${file}.new`, `${JSON.stringify(demo, null, 2)}\n`, { mode: 0o600 })
  renameSync(`${file}.new`, file)
  return demo
}

/**
 * The app of the demo's site (src/demo), and where its offers lead and its postbacks go: to this server, under the URL it
 * has now. Null once its key was revoked or its secret rotated.
 */
export async function prepareDemoSite(
  { config, database: { db }, secretKey, by }: Context,
  demo: DemoApp,
): Promise<DemoSite | null> {
  const { dataDir, publicUrl } = config
  const file = demoSiteFile(dataDir)
  const owner = await findAppOwner(db, demo.app_id)
  if (owner === null) return null
  await leadToDemo(db, publicUrl)
  const kept = existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as SiteFile) : null
  if (kept?.api_secret === undefined) {
    const { app_id, live } = await issueApp(db, by, secretKey, owner.publisherId, SITE)
    const { api_key, api_secret, signing_secret } = live
    const site: SiteFile = { app_id, api_key, api_secret, signing_secret }
    writeFileSync(`${file}.new`, `${JSON.stringify(site, null, 2)}\n`, { mode: 0o600 })
    renameSync(`${file}.new`, file)
  }
  const site = JSON.parse(readFileSync(file, 'utf8')) as SiteFile
  const url = demoPostbackUrl(publicUrl)
  const secrets = (await readSigningSecrets(db, secretKey, [site.app_id])).get(signingKeyOf(site.app_id, false)) ?? []
  if (!secrets.includes(site.signing_secret)) return null
  const known = await readSettings(db, secretKey, site.app_id)
  if (known?.url !== url) await saveSettings(db, by, secretKey, site.app_id, { ...DEFAULTS, url })
  return { ...site, lockers: await prepareLockers(db, by, config, site.app_id) }
}

type SiteFile = Omit<DemoSite, 'lockers'>

/** The oldest of each kind, so that they stay the demo's whatever their publisher calls them. */
async function prepareLockers(db: Db, by: Actor, config: Config, appId: number): Promise<DemoSite['lockers']> {
  const lockers = await listLockers(db, config, { appId }, MAX_OF_APP)
  const prepare = async (kind: 'content' | 'link') =>
    lockers.findLast((one) => one.kind === kind)?.locker_id ??
    (await createLocker(db, by, config, appId, DEMO_LOCKERS[kind]))
  const [contentId, linkId] = [await prepare('content'), await prepare('link')]
  return { contentId, linkId, slug: (await findLocker(db, { lockerId: linkId }))?.slug ?? '' }
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

/** Repeatable: one that was created before its secrets were kept gets new ones. */
async function issueApp(db: Db, by: Actor, secretKey: string, publisherId: number, appName: string): Promise<DemoApp> {
  const made = (await listApps(db)).find(({ name, mode }) => name === appName && mode === 'live')
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
    name: appName,
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
