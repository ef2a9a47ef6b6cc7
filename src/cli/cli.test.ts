import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import type { Finished } from '../../test/installation.ts'
import { failsWith, useOperator } from '../../test/operator.ts'
import { freePort } from '../../test/ports.ts'
import { openPool } from '../db/open.ts'
import { hasValidChecksum } from '../features/apps/secrets.ts'

const COMMANDS: Record<string, string[]> = {
  '': [
    'serve',
    'migrate',
    'seed',
    'config',
    'doctor',
    'secret-key',
    'publisher',
    'app',
    'advertiser',
    'offer',
    'click',
    'conversion',
    'inbound',
    'postback',
    'notice',
    'listen',
    'ledger',
    'fraud',
    'ban',
  ],
  publisher: ['create', 'set-email', 'permit', 'list'],
  app: [
    'create',
    'list',
    'show',
    'set',
    'set-postback',
    'rotate-secret',
    'rotate-signing-secret',
    'trust',
    'distrust',
    'revoke',
  ],
  advertiser: ['create', 'list', 'show', 'set', 'rotate-token', 'test-confirm'],
  offer: ['import', 'list', 'pause', 'resume', 'show', 'caps'],
  click: ['list'],
  conversion: ['approve', 'reject', 'reverse', 'list', 'show'],
  inbound: ['list', 'show', 'reprocess', 'dismiss'],
  postback: ['list', 'show', 'replay', 'test'],
  notice: ['list'],
  ledger: ['check', 'balance', 'statement', 'payout', 'receipt'],
  fraud: ['list', 'set', 'unset'],
  ban: ['add', 'lift', 'list'],
}
const CANARY = 'canary-canary-canary-canary-canary'

const { home, world, createApp, writeOffers, dumpDatabase } = useOperator()

test('every command is there, with help that explains it and offers --json', async () => {
  const groups = Object.entries(COMMANDS)
  const helps = await Promise.all(groups.map(([group]) => home.run(group === '' ? ['--help'] : [group, '--help'])))
  for (const [i, [group, names]] of groups.entries()) {
    assert.equal(helps[i]?.status, 0, group)
    for (const name of names) assert.match(helps[i]?.out ?? '', new RegExp(`^  ${name} .*  [a-z]+`, 'm'))
  }
  const { out } = await home.run(['app', 'create', '--help'])
  for (const option of ['publisher', 'name', 'currency', 'rate', 'rate-limit', 'expires-at', 'json'])
    assert.match(out, new RegExp(`^  --${option} .*  [a-z]+`, 'm'))
  const required = out.split(/\n(?= {2}-)/).filter((option) => /\(required\)/.test(option))
  assert.deepEqual(required.map((option) => /--[a-z-]+/.exec(option)?.[0]), ['--publisher', '--name']) // prettier-ignore
})

test('a command that is unknown or lacks something says where help is', async () => {
  const [nothing, unknown, lacking, surplus] = await Promise.all([
    home.run([]),
    home.run(['ofer']),
    home.run(['app', 'create']),
    home.run(['offer', 'list', '--colour', 'red']),
  ])
  assert.match(nothing.out + nothing.err, /Usage: offerdeck/)
  failsWith(unknown, /^Unknown command "ofer"\. Did you mean "offer"\?\nSee: npx offerdeck --help\n$/, 2)
  assert.equal(nothing.status, 2)
  failsWith(lacking, /^--publisher <publisher> is required\.\nSee: npx offerdeck app create --help\n$/, 2)
  failsWith(surplus, /^Unknown option "--colour"\.\nSee: npx offerdeck offer list --help\n$/, 2)
})

test('with --json every failure is JSON too', async () => {
  const failures = await Promise.all([
    home.run(['offer', 'show', '999999', '--json']),
    home.run(['app', 'create', '--json']),
    home.run(['offer', 'list', '--colour', '--json']),
    home.run(['config', '--json'], { PORT: 'eighty', LOG_LEVEL: 'loud' }),
  ])
  assert.match(failures[3]?.out ?? '', /PORT must.*LOG_LEVEL must/)
  for (const { status, out } of failures) {
    const { error } = JSON.parse(out) as { error: string }
    assert.ok(error.length > 0)
    assert.ok(status === 1 || status === 2)
  }
})

test('publishers and advertisers are created once per name, and listed', async () => {
  for (const noun of ['publisher', 'advertiser']) {
    const { token, ...made } = await home.json<{ name: string; created_at: string; token?: string }>(noun, 'create', '--name', 'Zoë & Söhne') // prettier-ignore
    assert.equal(token !== undefined, noun === 'advertiser')
    assert.match(made.created_at, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
    const [list, again, next, nameless] = await Promise.all([
      home.json<(typeof made)[]>(noun, 'list'),
      home.run([noun, 'create', '--name', 'Zoë & Söhne']),
      home.run([noun, 'create', '--name', 'Next']),
      home.run([noun, 'create', '--name', '']),
    ])
    assert.partialDeepStrictEqual(list, [made])
    failsWith(again, /An? \w+ "Zoë & Söhne" already exists/)
    assert.match(next.out, /Next: npx offerdeck (app create --publisher "Next"|offer import FILE)/)
    failsWith(nameless, /name/)
  }
})

test('a new app gets live and test credentials in the right forms, and its secrets are kept nowhere', async () => {
  const app = await createApp()
  for (const [mode, one] of [['live', app.live], ['test', app.test]] as const) {
    assert.match(one.api_key, new RegExp(`^pk_${mode}_[0-9A-Za-z]{28}$`))
    assert.match(one.api_secret, new RegExp(`^sk_${mode}_[0-9A-Za-z]{49}$`))
    assert.match(one.signing_secret, /^whsec_[0-9A-Za-z+/]{43}=$/)
    assert.ok(hasValidChecksum(one.api_key) && hasValidChecksum(one.api_secret))
  } // prettier-ignore
  const [list, listed, text, dump] = await Promise.all([
    home.run(['app', 'list', '--wide']),
    home.run(['app', 'list', '--json']),
    home.run(['app', 'create', '--publisher', app.publisher, '--name', 'Second']),
    dumpDatabase(),
  ])
  for (const row of [/^credentials .*pk_live_/m, /^api_secrets .*hash/m]) assert.match(dump, row)
  for (const { api_key } of [app.live, app.test]) assert.ok(list.out.includes(api_key) && listed.out.includes(api_key))
  const kept = [list.out, listed.out, dump].join('\n')
  for (const secret of [app.live, app.test].flatMap((one) => [one.api_secret, one.signing_secret])) {
    const bare = secret.replace(/^(sk_\w{4}|whsec)_/, '')
    for (const form of [bare, Buffer.from(secret).toString('hex'), Buffer.from(bare, 'base64').toString('hex')])
      assert.ok(!kept.includes(form))
  }
  assert.match(text.out, /Store the secrets now[\s\S]*Live\napi_key +pk_live_[\s\S]*Test\napi_key +pk_test_/)
})

test('an app and its postback settings have one shape, whichever command prints them', async () => {
  const { app_id } = await createApp()
  const id = String(app_id)
  type Shown = { postback: object; live: { api_key: string; leak: object | null } }
  const set = await home.json<object>('app', 'set-postback', id, '--url', 'https://example.com/?u={user_id}', '--method', 'POST') // prettier-ignore
  const shown = await home.json<Shown>('app', 'show', id)
  for (const [name, value] of Object.entries(shown.postback)) assert.deepEqual([name, set[name as keyof object]], [name, value]) // prettier-ignore
  const leak = async () => (await home.json<Shown[]>('app', 'list')).find(({ live }) => live.api_key === shown.live.api_key)?.live.leak // prettier-ignore
  assert.equal(await leak(), null)
  const leaked = { secret_leaked_at: new Date(Date.now() - 60_000), secret_leaked_origin: 'https://shop.example' }
  const { db } = world.database
  const created_at = new Date(Date.now() - 120_000)
  await db.updateTable('api_secrets').set({ created_at }).where('api_key', '=', shown.live.api_key).execute()
  await db.updateTable('credentials').set(leaked).where('api_key', '=', shown.live.api_key).execute()
  assert.deepEqual(await leak(), (await home.json<Shown>('app', 'show', id)).live.leak)
  assert.match((await home.run(['app', 'list', '--wide'])).out, /valid, LEAKED/)
  await home.json('app', 'rotate-secret', id, '--grace', '0s', '--yes')
  assert.deepEqual(await leak(), (await home.json<Shown>('app', 'show', id)).live.leak)
  assert.doesNotMatch((await home.run(['app', 'list', '--wide'])).out, /LEAKED/)
})

test('all bad options of an app are named in one message', async () => {
  const bad = { '--name': ' ', '--rate': '0', '--rate-limit': '1e9', '--currency': '', '--expires-at': 'soon', '--block-category': 'music' } // prettier-ignore
  const result = await home.run(['app', 'create', '--publisher', 'Nobody', ...Object.entries(bad).flat()])
  for (const option of Object.keys(bad)) failsWith(result, new RegExp(`^${option} must`, 'm'), 2)
})

test('a bad value gives one clear message and no stack', async () => {
  const shared = String((await createApp()).app_id)
  const attempts: [string[], RegExp][] = [
    [['app', 'create', '--publisher', 'Nobody', '--name', 'x'], /no publisher "Nobody"\. List publishers with: npx offerdeck publisher list/],
    [['app', 'rotate-secret', '1', '--grace', 'soon'], /--grace must be a duration such as/],
    [['app', 'rotate-secret', '999999'], /There is no app 999999\. List apps with: npx offerdeck app list/],
    [['app', 'revoke', 'x'], /There is no app "x"/],
    [['offer', 'show', '999999'], /There is no offer 999999\. List offers with: npx offerdeck offer list/],
    [['offer', 'pause', '999999999999999999999'], /There is no offer "999999999999999999999"/],
    [['offer', 'list', '--limit', '0'], /--limit/],
    [['app', 'set-postback', shared, '--url', 'ftp://x'], /^--url: Enter a full URL that begins with/],
    [['app', 'set-postback', shared, '--url', 'https://a.example/?u={bogus}'], /^--url: .*\{bogus\}/],
    [['app', 'set-postback', shared, '--url', 'https://a.example/?u={user_id}', '--timeout', '60s'], /^--timeout: The timeout must be/],
    [['publisher', 'create', '--name', 'Wrong mail', '--email', 'x'], /^--email: "x" is not an email address/],
    [['seed', '--offers', '0'], /--offers must be a whole number/],
    [['serve', '--only', 'web'], /--only[\s\S]*api, worker/],
    [['offer', 'import', join(home.folder, 'missing.json')], /There is no file .*missing\.json/],
  ] // prettier-ignore
  const results = await Promise.all(attempts.map(([args]) => home.run(args)))
  for (const [i, [, message]] of attempts.entries())
    failsWith(results[i] as Finished, message, /no |There is no/.test(message.source) ? 1 : 2)
})

test('the configuration is printed with its secrets masked', async () => {
  const env = {
    DATABASE_URL: `postgres://owner:${CANARY}@db/offers?password=${CANARY}`,
    REDIS_URL: `redis://:${CANARY}@cache`,
    SECRET_KEY: CANARY,
  }
  for (const { status, out, err } of await Promise.all([
    home.run(['config'], env),
    home.run(['config', '--json'], env),
  ])) {
    assert.equal(status, 0)
    assert.doesNotMatch(out + err, new RegExp(CANARY))
    assert.match(out, /owner:\*{8}@db/)
  }
})

test('doctor finds nothing on a healthy installation', async () => {
  const { ok, findings } = await home.json<{ ok: boolean; findings: { check: string; ok: boolean }[] }>('doctor')
  assert.equal(ok, true)
  assert.deepEqual(findings.map(({ check }) => check), ['folder', 'database', 'schema', 'key', 'clock', 'limits', 'pooler', 'redis', 'backups', 'export', 'tls', 'address', 'security']) // prettier-ignore
  assert.ok(findings.every((one) => one.ok))
})

test('where the database, Redis or the certificate is missing, doctor says what to do, and no secret', async () => {
  const port = await freePort()
  const offline = {
    DATABASE_URL: `postgres://u:${CANARY}@127.0.0.1:${port}/x`,
    SECRET_KEY: CANARY,
    REDIS_URL: `redis://:${CANARY}@127.0.0.1:${port}`,
    TLS_CERT: '/no/cert.pem',
    TLS_KEY: '/no/key.pem',
  }
  const { status, out, err } = await home.run(['doctor'], offline)
  assert.equal(status, 1)
  assert.match(
    out,
    /FAIL +database .*ECONNREFUSED.*\n +→ Check that the server is running, that DATABASE_URL is correct/,
  )
  assert.match(out, /FAIL +redis .*\n +→ Check that Redis is running/)
  assert.match(out, /FAIL +tls .*\n +→ TLS_CERT must be/)
  assert.doesNotMatch(out + err, new RegExp(CANARY))
})

test('where the database does not answer, every command says what to do', async () => {
  const offline = { DATABASE_URL: `postgres://u:${CANARY}@127.0.0.1:${await freePort()}/x`, SECRET_KEY: CANARY }
  const results = await Promise.all(
    ['publisher list', 'migrate', 'serve'].map((line) => home.run(line.split(' '), offline)),
  )
  for (const result of results) failsWith(result, /DATABASE_URL|offerdeck doctor/)
})

test('a command that has used the database leaves no connection open, in whatever way it used it', async () => {
  const database = openPool(JSON.parse(process.env['TEST_POSTGRES'] ?? '{}') as object, 1)
  await database.pool.query('SELECT 1')
  await database.close()
  assert.equal(database.pool.totalCount, 0, 'the process would wait ten seconds for it')
})

test('an import ends with status 0, or 1 when it refused a row, which it names', async () => {
  await home.json('advertiser', 'create', '--name', 'Importer')
  const good = writeOffers({ advertiser: 'Importer' }, { advertiser: 'Importer' })
  const first = await home.run(['offer', 'import', good])
  assert.deepEqual([first.status, first.out], [0, '2 rows: 2 new, 0 updated, 0 unchanged, 0 rejected.\n'])
  const bad = writeOffers({ advertiser: 'Importer' }, { advertiser: 'Importer', category: 'music' })
  const [{ status, out }, json] = await Promise.all([
    home.run(['offer', 'import', bad]),
    home.run(['offer', 'import', bad, '--json']),
  ])
  assert.equal(status, 1)
  assert.match(
    out,
    /^line 1: element 2: category must be one of .*\n2 rows: 0 new, 0 updated, 1 unchanged, 1 rejected\.\n$/,
  )
  assert.equal(json.status, 1)
  assert.partialDeepStrictEqual(JSON.parse(json.out), { rows: 2, unchanged: 1, rejected: 1, problems: [{ line: 1 }] })
})

test('a file that is not there leaves no entry in the audit log', async () => {
  const count = async () => (await world.database.db.selectFrom('audit_log').select('audit_id').execute()).length
  const before = await count()
  failsWith(await home.run(['offer', 'import', join(home.folder, 'nope.json')]), /There is no file .*nope\.json/)
  assert.equal(await count(), before)
})

test('an import warns of a payout above the revenue, by line, and takes the offer', async () => {
  await home.json('advertiser', 'create', '--name', 'Above')
  const goals = [{ name: 'A', payout: 2, revenue: 1.5 }, { name: 'B', payout: 1, revenue: 1 }] // prettier-ignore
  const file = writeOffers({ advertiser: 'Above' }, { advertiser: 'Above', payout: undefined, goals })
  const { status, out } = await home.run(['offer', 'import', file])
  const warning = '"A" pays 2.00 USD and earns 1.50 USD: the payout is above the revenue.'
  assert.equal(status, 0)
  assert.equal(out, `line 1: warning: element 2: ${warning}\n2 rows: 2 new, 0 updated, 0 unchanged, 0 rejected.\n`)
  const again = await home.json<{ warnings: unknown[] }>('offer', 'import', file)
  assert.deepEqual(again.warnings, [{ line: 1, warning: `element 2: ${warning}` }])
})

test('migrate and seed can be repeated', async () => {
  assert.deepEqual(await home.json('migrate'), { applied: [] })
  assert.deepEqual(await home.json('seed', '--offers', '5'), { created: 5 })
  assert.deepEqual(await home.json('seed', '--offers', '7'), { created: 2 })
})
