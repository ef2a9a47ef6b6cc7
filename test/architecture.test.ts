// The rules of the tree, kept by a test: where imports may point, and what only some places may know.
import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { test } from 'node:test'
import { LOCK_CLASSES, LOCKS } from '../src/db/locks.ts'

const LAYERS = [
  'lib',
  'errors.ts',
  'settings-data.ts',
  'settings.ts',
  'config-parts',
  'config.ts',
  'loop.ts',
  'db',
  'http',
  'features',
  'manage',
  'demo',
  'postman.ts',
  'metrics',
  'tracing',
  'app.ts',
  'worker.ts',
  'cli',
]
const FEATURES = [
  'accounts',
  'rates',
  'apps',
  'offers',
  'clicks',
  'ledger',
  'postbacks',
  'conversions',
  'users',
  'feeds',
  'exports',
  'reports',
  'wall',
  'lockers',
]

type Import = { file: string; target: string; isTypeOnly: boolean }

const files = readdirSync('src', { recursive: true, encoding: 'utf8' }).filter(
  (file) => file.endsWith('.ts') && !file.endsWith('.test.ts'),
)
const source = (file: string) => readFileSync(join('src', file), 'utf8')

const importsIn = (text: string) =>
  [
    ...text.matchAll(
      /^(?:import|export)\s+(type\s)?[^'"]*?from\s+'([^']+)'|^import\s+'([^']+)'|import\('([^']+)'\)/gms,
    ),
  ].map((match) => ({ name: match[2] ?? match[3] ?? match[4] ?? '', isTypeOnly: match[1] !== undefined }))

const imports: Import[] = files.flatMap((file) =>
  importsIn(source(file)).map(({ name, isTypeOnly }) => ({
    file,
    target: name.startsWith('.') ? normalize(join(dirname(file), name)) : name,
    isTypeOnly,
  })),
)

const layerOf = (path: string) => LAYERS.indexOf(path.split('/')[0] ?? '')
const featureOf = (path: string) => (path.startsWith('features/') ? FEATURES.indexOf(path.split('/')[1] ?? '') : -1)
const describe = ({ file, target }: Import) => `${file} imports ${target}`

test('every file belongs to a layer, and every feature to the list of features', () => {
  assert.deepEqual(
    files.filter((file) => layerOf(file) === -1),
    [],
  )
  assert.deepEqual(
    files.filter((file) => file.startsWith('features/') && featureOf(file) === -1),
    [],
  )
})

test('no file has more than 300 lines, but for generated ones', () => {
  const generated = ['src/db/tables.ts', 'web/dashboard/src/lib/api-types.ts', 'client/src/api-types.ts']
  const long = ['src', 'test', 'web/dashboard/src', 'client/src'].flatMap((folder) =>
    readdirSync(folder, { recursive: true, encoding: 'utf8' })
      .map((file) => join(folder, file))
      .filter((file) => /\.tsx?$/.test(file) && !generated.includes(file))
      .filter((file) => readFileSync(file, 'utf8').split('\n').length - 1 > 300),
  )
  assert.deepEqual(long, [])
})

test('imports point left, from lib to cli', () => {
  const wrong = imports.filter(({ file, target }) => layerOf(target) > layerOf(file))
  assert.deepEqual(wrong.map(describe), [])
})

test('among features imports point left, too', () => {
  const wrong = imports.filter(({ file, target }) => featureOf(file) !== -1 && featureOf(target) > featureOf(file))
  assert.deepEqual(wrong.map(describe), [])
})

/**
 * What a feature offers to the features right of it. As few files as possible: everything else of a feature can change
 * without a look at the others. `manage`, `postman.ts`, `app.ts`, `worker.ts` and `cli` may import any file, since they are wired to
 * all of them.
 */
const PUBLIC: Record<string, readonly string[]> = {
  // Who acts, whose offers and callbacks they are, what mails are sent.
  accounts: ['advertiser-settings.ts', 'advertisers.ts', 'audit.ts', 'call-rules.ts', 'call-signature.ts', 'mails.ts', 'password-hash.ts', 'publishers.ts', 'sign-up/applications.ts'], // prettier-ignore
  // What other currencies are worth.
  rates: ['rates.ts'],
  // Who calls the API, how an app's messages are signed, who is banned, and who was erased.
  apps: ['bans.ts', 'credentials.ts', 'erased-users.ts', 'request-mentions.ts', 'signing-secrets.ts'],
  // The catalogue, offers as they are recorded, and what a link leads to; the rules for caps and content, which conversions keep, too.
  offers: ['caps.ts', 'catalogue.ts', 'choices.ts', 'completions.ts', 'fields.ts', 'hidden-reasons.ts', 'images.ts', 'import-record.ts', 'keywords.ts', 'links.ts', 'offer-answers.ts', 'offer-changes.ts', 'offer-text.ts', 'offers.ts', 'pages.ts', 'products/product.ts', 'ranking/model.ts', 'rule-sets.ts', 'schema.ts', 'upsert.ts'], // prettier-ignore
  // Which clicks count, and what kind of device they came from.
  clicks: ['clicks.ts', 'visitor.ts'],
  ledger: ['ledger.ts'],
  // What a postback says, how an app's secret signs, and how others' servers are reached.
  postbacks: ['address-guard.ts', 'message.ts', 'open-socket.ts', 'schedule.ts', 'signing.ts'],
  // Callbacks that wait for an operator, what their statuses mean, and how what is known of a user is locked and left out.
  conversions: [
    'conversions.ts',
    'inbound/open-calls.ts',
    'inbound/redact-call.ts',
    'inbound/status-words.ts',
    'keys.ts',
  ],
  // What a user has.
  users: ['balances.ts', 'users.ts'],
  // How the pages of an app look, and the streams of its users.
  wall: ['live.ts', 'settings-schema.ts', 'settings.ts', 'texts/numbers.ts', 'theme.ts'],
}

test('a feature imports public files of another feature only, and each of them is imported', () => {
  const nameOf = (path: string) => /^features\/([^/]+)\/(.+)$/.exec(path)
  const between = imports.flatMap((one) => {
    const [, from] = nameOf(one.file) ?? []
    const [, to = '', path = ''] = nameOf(one.target) ?? []
    return from === undefined || to === '' || from === to ? [] : [{ ...one, to, path }]
  })
  const wrong = between.filter(({ to, path }) => !(PUBLIC[to] ?? []).includes(path))
  assert.deepEqual(wrong.map(describe), [])
  const unused = Object.entries(PUBLIC).flatMap(([to, paths]) =>
    paths.filter((path) => !between.some((one) => one.to === to && one.path === path)).map((path) => `${to}/${path}`),
  )
  assert.deepEqual(unused, [])
})

test('no file imports its way back to itself, not even for a type', () => {
  const next = Map.groupBy(imports, ({ file }) => file)
  const reach = (file: string, seen = new Set<string>()): Set<string> => {
    for (const { target } of next.get(file) ?? []) if (!seen.has(target)) reach(target, seen.add(target))
    return seen
  }
  assert.deepEqual(files.filter((file) => reach(file).has(file)), []) // prettier-ignore
})

/** Rules that a page of users needs, too: without an import of their own, so nothing else gets into the page. */
const SHARED = ['features/wall/theme.ts']

test('pages take only types from the server, but for shared rules', () => {
  const pages = readdirSync('web', { recursive: true, encoding: 'utf8' }).filter((file) => /\.tsx?$/.test(file))
  assert.ok(pages.length > 0)
  const wrong = pages.flatMap((page) =>
    importsIn(readFileSync(join('web', page), 'utf8'))
      .filter(({ name }) => /^(\.\.\/)+src\//.test(name))
      .filter(({ name, isTypeOnly }) => !isTypeOnly || (page.startsWith('dashboard/') && !name.endsWith('/schema.ts')))
      .filter(({ name }) => page.startsWith('dashboard/') || !SHARED.includes(name.replace(/^(\.\.\/)+src\//, '')))
      .map(({ name }) => `${page} imports ${name}`),
  )
  assert.deepEqual(wrong, [])
  assert.deepEqual(imports.filter(({ file, isTypeOnly }) => SHARED.includes(file) && !isTypeOnly), []) // prettier-ignore
})

test('the client imports its own files only: no other package, and nothing that only Node has', () => {
  const own = readdirSync('client/src').filter((file) => file.endsWith('.ts'))
  assert.ok(own.length > 0)
  const wrong = own.flatMap((file) =>
    importsIn(readFileSync(join('client/src', file), 'utf8'))
      .filter(({ name }) => !own.includes(name.replace(/^\.\//, '')))
      .map(({ name }) => `${file} imports ${name}`),
  )
  assert.deepEqual(wrong, [])
})

test('the dashboard has one table, one list of countries, and forms that take numbers as they are typed', () => {
  const home = 'web/dashboard/src'
  const pages = readdirSync(home, { recursive: true, encoding: 'utf8' }).filter((file) => /\.tsx?$/.test(file))
  const having = (pattern: RegExp) => pages.filter((page) => pattern.test(readFileSync(join(home, page), 'utf8')))
  assert.deepEqual(having(/import \{[^}]*\bTable\b[^}]*\} from '@mantine\/core'/).toSorted(), [
    'parts/data-table.tsx',
    'parts/facts.tsx', // names with values beside them
  ])
  assert.deepEqual(having(/type: 'region'/), ['lib/countries.ts'])
  // An input for numbers drops letters and changes the rest without a word: these are examples beside what is saved.
  assert.deepEqual(having(/\bNumberInput\b|type="number"/).toSorted(), ['parts/app/currency.tsx', 'parts/network-offers/preview.tsx']) // prettier-ignore
})

test('advisory locks have names and different numbers, all in db/locks.ts', () => {
  for (const numbers of [LOCKS, LOCK_CLASSES].map((locks) => Object.values<number>(locks)))
    assert.equal(new Set(numbers).size, numbers.length)
  const wrong = files.filter(
    (file) => file !== 'db/locks.ts' && /0x0ff3|2675834\d\d|advisory_\w*lock\w*\(\s*-?\d/i.test(source(file)),
  )
  assert.deepEqual(wrong, [])
  // Functions in the database take them by number.
  const migrations = readdirSync('migrations').map((file) => readFileSync(join('migrations', file), 'utf8'))
  const taken = migrations.flatMap((text) =>
    [...text.matchAll(/advisory_\w*lock\w*\((\d+)/g)].map(([, n]) => Number(n)),
  )
  assert.ok(taken.length > 0)
  assert.deepEqual(taken.filter((number) => !Object.values<number>(LOCKS).includes(number)), []) // prettier-ignore
})

test('only routes, http, app.ts and cli know Fastify; only db knows pg, but for types', () => {
  const knowsFastify = (file: string) => /(^|\/)routes\.ts$/.test(file) || /^(http\/|app\.ts|cli\/)/.test(file)
  assert.deepEqual(
    imports
      .filter(({ file, target, isTypeOnly }) => target === 'fastify' && !isTypeOnly && !knowsFastify(file))
      .map(describe),
    [],
  )
  assert.deepEqual(
    imports
      .filter(({ file, target, isTypeOnly }) => target === 'pg' && !isTypeOnly && !file.startsWith('db/'))
      .map(describe),
    [],
  )
})

test('account, publisher, advertiser and operator share what stands beside them in manage, and nothing of each other', () => {
  const userOf = (path: string) => /^manage\/(account|publisher|advertiser|operator)\//.exec(path)?.[1]
  const wrong = imports.filter(({ file, target }) => userOf(file) && userOf(target) && userOf(file) !== userOf(target))
  assert.deepEqual(wrong.map(describe), [])
})

test('the management API and the command line hold no SQL: they call the features', () => {
  const wrong = files.filter(
    (file) =>
      (file.startsWith('manage/') || (file.startsWith('cli/') && file !== 'cli/demo.ts')) && // sets up its own world
      /\bsql(<[^`]*>)?`|\b(selectFrom|selectNoFrom|insertInto|updateTable|deleteFrom|mergeInto)\(|\bpool\.query\(/.test(
        source(file),
      ),
  )
  assert.deepEqual(wrong, [])
})

test('a feature writes the audit entry of what it changes: the management API and the command line only call it', () => {
  const writers = files.filter((file) => /^(manage|cli)\//.test(file) && /\brecord(Audit|Parts)/.test(source(file)))
  assert.deepEqual(writers, ['cli/audit.ts']) // commands that have no counterpart in the dashboard
})

/** Speak to the person who runs a command: the receiver that `listen` starts, the key at a start, an import's rows. */
const SPOKEN_AT_A_TERMINAL = ['features/postbacks/listener.ts', 'features/offers/upsert.ts']
const STYLES = ['features/clicks/pages.ts', 'features/wall/theme.ts'] // their variables look like options

test('features name no command and no option: who reports a problem adds what helps', () => {
  const isText = (line: string) => !/^\s*(\/\/|\*|\/\*)/.test(line)
  const wrong = files
    .filter((file) => file.startsWith('features/') && ![...SPOKEN_AT_A_TERMINAL, ...STYLES].includes(file))
    .flatMap((file) =>
      source(file)
        .split('\n')
        .filter((line) => isText(line) && /offerdeck [a-z]+ [a-z]|[^-\w]--[a-z]{3,}(?!:| *[;#])/.test(line))
        .map((line) => `${file}: ${line.trim()}`),
    )
  assert.deepEqual(wrong, [])
})

test('only the command line reads the environment and ends the process', () => {
  const wrong = files.filter(
    (file) =>
      !file.startsWith('cli/') && /process\.(env\b|exit\()/.test(source(file).replaceAll('NodeJS.ProcessEnv', '')),
  )
  assert.deepEqual(wrong, [])
})

test('nothing below features mentions the feature’s HTTP status', () => {
  const wrong = files.filter(
    (file) =>
      file.startsWith('features/') &&
      !file.endsWith('routes.ts') &&
      /\.(code|status)\((\d{3})\)|(?:reply|raw)\.statusCode/.test(source(file)),
  )
  assert.deepEqual(wrong, [])
})
