// Feeds at the command line.
import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { failsWith, useOperator } from '../../test/operator.ts'
import { TESTER } from '../../test/tester.ts'
import { Upstream } from '../../test/upstreams/server.ts'
import { upstreamOffer } from '../../test/upstreams/shapes.ts'
import { SECRET_KEY } from '../../test/world.ts'
import { createAdvertiser } from '../features/accounts/advertisers.ts'
import { FEED_DEFAULTS } from '../features/feeds/feed-settings.ts'
import { createFeed } from '../features/feeds/feeds.ts'

const { home, world } = useOperator({ worker: false, env: { POSTBACK_ALLOW: '127.0.0.1/32' } })

function writeCredentials(content: unknown): string {
  const file = join(home.folder, 'credentials.json')
  writeFileSync(file, JSON.stringify(content))
  return file
}

test('a feed of a network that is known is added, listed, paused and resumed; its credentials are never shown', async () => {
  await home.json('advertiser', 'create', '--name', 'Upstream')
  const file = writeCredentials({ key: 'sesame-4711', tenant: 'acme' })
  const added = await home.run(['feed', 'add', '--name', 'Affise', '--preset', 'affise', '--advertiser', 'Upstream', '--credentials', file, '--share', '70']) // prettier-ignore
  assert.equal(added.status, 0, added.err)
  assert.match(added.out, /share_percent +70\n/)
  assert.match(added.out, /npx offerdeck feed preview \d+/)
  assert.match(added.out, /postback\?click_id=\{sub1\}&txn_id=\{transactionid\}.*&token=YOUR_TOKEN\n/)
  type Shown = { name: string; is_paused: boolean; every: string; latest_run: null }
  const [feed] = await home.json<Shown[]>('feed', 'list')
  assert.deepEqual(
    [feed?.name, feed?.is_paused, feed?.every, feed?.latest_run],
    ['Affise', true, '30m', null],
    'it is started once its preview was looked at',
  )
  await home.json('feed', 'resume', 'Affise')
  assert.equal((await home.json<Shown>('feed', 'show', 'Affise')).is_paused, false)
  await home.json('feed', 'pause', 'Affise')
  assert.equal((await home.json<Shown>('feed', 'show', 'Affise')).is_paused, true)
  const own = await home.run(['feed', 'add', '--name', 'With its own advertiser', '--preset', 'affise', '--credentials', file, '--share', '70']) // prettier-ignore
  assert.match(own.out, /token=adv_\w+\n/)
  for (const args of [['list'], ['show', 'Affise']]) assert.doesNotMatch((await home.run(['feed', ...args, '--json'])).out, /sesame/) // prettier-ignore
  assert.match((await home.run(['feed', 'presets'])).out, /affise +Affise +30m +key/)
})

test('what is wrong with a feed is said by option', async () => {
  const add = (file: string, ...more: string[]) => home.run(['feed', 'add', '--name', 'X', '--preset', 'ayet', '--advertiser', 'Upstream', '--credentials', file, '--share', '70', ...more]) // prettier-ignore
  const file = writeCredentials({ key: 'x', adslot: '1' })
  failsWith(await add(file, '--preset', 'unknown'), /--preset: there is no "unknown"\. Use one of adgate,/, 2)
  failsWith(await add(file, '--share', '0'), /--share: The share must be a percentage above 0, at most 100/, 2)
  failsWith(await add(file, '--every', '10s'), /--every: A feed can be fetched every 5m to 7d/, 2)
  failsWith(
    await add(writeCredentials({ key: 'x', slot: '1' })),
    /--credentials adslot: Required\.\n--credentials slot: This network does not use this credential/,
    2,
  )
  failsWith(await add('/nowhere/at-all.json'), /There is no file/)
  failsWith(await home.run(['feed', 'run', 'Nothing']), /There is no feed "?Nothing"?/)
})

test('a network that is not known is added by a definition; what is set later replaces what was, and the rest stays', async () => {
  const definition = join(home.folder, 'definition.json')
  const write = (request: object, mapping: object) => writeFileSync(definition, JSON.stringify({ request, mapping }))
  const request = { method: 'GET', url: 'https://own.example/offers?key={key}', paging: { kind: 'one' } }
  const mapping = {
    offers: 'offers',
    id: 'id',
    name: 'name',
    payout: 'payout',
    link: { path: 'url', append: 's1={click_id}' },
  }
  const args = ['--name', 'Own', '--credentials', writeCredentials({ key: 'sesame' }), '--share', '80', '--definition', definition] // prettier-ignore
  write(request, { ...mapping, name: undefined, nonsense: 1 })
  failsWith(
    await home.run(['feed', 'add', ...args]),
    /--definition, mapping\.nonsense: .*\n--definition, mapping\.name: name is missing/,
    2,
  )
  write(request, mapping)
  failsWith(await home.run(['feed', 'add', ...args, '--preset', 'affise']), /Give either --preset or --definition/, 2)
  const added = await home.run(['feed', 'add', ...args, '--countries', 'us,de', '--min-payout', '0.25', '--block-words', 'casino, dating']) // prettier-ignore
  assert.equal(added.status, 0, added.err)
  type Shown = { share_percent: number; countries: string[]; min_payout: string | null; blocked_words: string[]; hold_changes_percent: number | null; min_margin: string | null; max_margin: string | null } // prettier-ignore
  assert.partialDeepStrictEqual(await home.json<Shown>('feed', 'show', 'Own'), { share_percent: 80, countries: ['US', 'DE'], min_payout: '0.25', blocked_words: ['casino', 'dating'] }) // prettier-ignore
  await home.json(
    'feed',
    'set',
    'Own',
    '--share',
    '60',
    '--countries',
    'none',
    '--hold-changes',
    '50',
    '--min-margin',
    '0.05',
  )
  assert.partialDeepStrictEqual(await home.json<Shown>('feed', 'show', 'Own'), { share_percent: 60, countries: [], min_payout: '0.25', hold_changes_percent: 50, min_margin: '0.05', max_margin: null }) // prettier-ignore
  failsWith(await home.run(['feed', 'set', 'Own', '--countries', 'ZZ', '--max-gone', '0', '--max-margin', '0.01']), /--max-margin: .*below the minimum margin.*\n--max-gone: .*\n--countries: ZZ/, 2) // prettier-ignore
  failsWith(await home.run(['feed', 'set', 'Own']), /Nothing to change/, 2)
  write({ ...request, url: 'https://elsewhere.example/?key={key}' }, mapping)
  failsWith(await home.run(['feed', 'set', 'Own', '--definition', definition]), /--credentials: The request now goes to another host/, 2) // prettier-ignore
})

test('a preview shows what a run does; the run does it', async () => {
  const { db } = world.database
  const upstream = await new Upstream('lootably').open()
  upstream.offers = Array.from({ length: 3 }, (_, n) => upstreamOffer(n))
  const { advertiser_id: advertiserId } = await createAdvertiser(db, TESTER, SECRET_KEY, 'Loot')
  const { request, credentials } = upstream.source
  const kind = { request, mapping: upstream.preset.mapping }
  await createFeed(db, TESTER, SECRET_KEY, { name: 'Loot', advertiserId, kind, credentials, settings: FEED_DEFAULTS })
  const preview = await home.run(['feed', 'preview', 'Loot'])
  assert.match(preview.out, /outcome +done\n[\s\S]*created +3\n[\s\S]*created +1000-a +Offer 0 & more/)
  const count = async () => (await db.selectFrom('offers').select('offer_id').where('advertiser_id', '=', advertiserId).execute()).length // prettier-ignore
  assert.equal(await count(), 0)
  const run = await home.json<{ outcome: string; created: number; changes: { kind: string }[] }>('feed', 'run', 'Loot')
  assert.deepEqual([run.outcome, run.created, run.changes.map(({ kind: what }) => what)], ['done', 3, ['created', 'created', 'created']]) // prettier-ignore
  assert.equal(await count(), 3)
})

test('callbacks are checked with the secret that is given with a feed, or later', async () => {
  const { db } = world.database
  const file = writeCredentials({ key: 'sesame-4711', placement: '1' })
  const secret = join(home.folder, 'secret.txt')
  writeFileSync(secret, 'signed-with-this\n')
  const add = (name: string, ...more: string[]) => home.run(['feed', 'add', '--name', name, '--preset', 'lootably', '--credentials', file, '--share', '70', ...more]) // prettier-ignore
  const isChecked = async (name: string) => {
    const row = await db.selectFrom('advertisers').select(['signature', 'signature_secret']).where('name', '=', name).executeTakeFirstOrThrow() // prettier-ignore
    return row.signature !== null && row.signature_secret !== null
  }
  const added = await add('Signed', '--postback-secret', secret)
  assert.deepEqual([added.status, added.out.includes('signed-with')], [0, false])
  assert.equal(await isChecked('Signed'), true)
  await add('Later')
  assert.equal(await isChecked('Later'), false)
  const set = await home.run(['advertiser', 'set', 'Later', '--postback-secret', secret])
  assert.deepEqual([set.status, set.out.includes('signed-with'), await isChecked('Later')], [0, false, true])
  failsWith(await add('X', '--postback-secret', '/nowhere'), /There is no file/)
  const plain = writeCredentials({ publisher: '1' })
  failsWith(await home.run(['feed', 'add', '--name', 'Plain', '--preset', 'cpalead', '--credentials', plain, '--share', '70', '--postback-secret', secret]), /--postback-secret: The callbacks of this network are not signed/, 2) // prettier-ignore
  await home.json('advertiser', 'create', '--name', 'Of no feed')
  failsWith(await home.run(['advertiser', 'set', 'Of no feed', '--postback-secret', secret]), /It is not known how Of no feed signs its callbacks/) // prettier-ignore
})

test('a preview says how many changes it does not show, and a refused run can be applied on purpose', async () => {
  const { db } = world.database
  const upstream = await new Upstream('lootably').open()
  const all = Array.from({ length: 8 }, (_, n) => upstreamOffer(n))
  upstream.offers = all
  const { request, credentials } = upstream.source
  const kind = { request, mapping: upstream.preset.mapping }
  await createFeed(db, TESTER, SECRET_KEY, { name: 'Shrinking', advertiserId: null, kind, credentials, settings: FEED_DEFAULTS }) // prettier-ignore
  assert.match((await home.run(['feed', 'preview', 'Shrinking', '--limit', '3'])).out, /… and 5 more: raise --limit/)
  assert.doesNotMatch((await home.run(['feed', 'run', 'Shrinking'])).out, /more: raise|apply it anyway/)
  failsWith(await home.run(['feed', 'run', 'Shrinking', '--accept-gone']), /No run of this feed was refused/)
  upstream.offers = all.slice(0, 2)
  assert.match((await home.run(['feed', 'run', 'Shrinking'])).out, /6 of 8 offers would be paused[\s\S]*apply it anyway: npx offerdeck feed run \d+ --accept-gone/) // prettier-ignore
  const run = await home.json<{ outcome: string; paused: number }>('feed', 'run', 'Shrinking', '--accept-gone')
  assert.deepEqual([run.outcome, run.paused], ['done', 6])
})

test('rates are set, imported and listed', async () => {
  await home.json('rate', 'set', 'eur', '1.0842', '--day', '2026-01-02')
  const file = join(home.folder, 'rates.csv')
  writeFileSync(file, 'Date, USD, JPY, \n17 November 2026, 1.1, 160, \n')
  assert.match((await home.run(['rate', 'import', file])).out, /2 rates read, 2 new/)
  const rates = await home.json<{ currency: string; day: string; usd: string }[]>('rate', 'list')
  assert.deepEqual(rates.map(({ currency }) => currency), ['EUR', 'JPY']) // prettier-ignore
  failsWith(await home.run(['rate', 'set', 'USD', '1']), /US dollars need no rate/)
  failsWith(await home.run(['rate', 'import', '/nowhere.csv']), /There is no file/)
})
