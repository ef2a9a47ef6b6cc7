// The rules of the tree, kept by a test: where imports may point, and what only some places may know.
import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { test } from 'node:test'

const LAYERS = [
  'lib',
  'errors.ts',
  'settings.ts',
  'config.ts',
  'loop.ts',
  'db',
  'http',
  'features',
  'manage',
  'app.ts',
  'worker.ts',
  'cli',
]
const FEATURES = [
  'accounts',
  'apps',
  'offers',
  'clicks',
  'ledger',
  'postbacks',
  'conversions',
  'reports',
  'wall',
  'lockers',
]

type Import = { file: string; target: string; isTypeOnly: boolean }

const files = readdirSync('src', { recursive: true, encoding: 'utf8' }).filter(
  (file) => file.endsWith('.ts') && !file.endsWith('.test.ts'),
)
const source = (file: string) => readFileSync(join('src', file), 'utf8')

const imports: Import[] = files.flatMap((file) =>
  [
    ...source(file).matchAll(
      /^(?:import|export)\s+(type\s)?[^'"]*?from\s+'([^']+)'|^import\s+'([^']+)'|import\('([^']+)'\)/gms,
    ),
  ].map((match) => {
    const name = match[2] ?? match[3] ?? match[4] ?? ''
    return {
      file,
      target: name.startsWith('.') ? normalize(join(dirname(file), name)) : name,
      isTypeOnly: match[1] !== undefined,
    }
  }),
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

test('imports point left, from lib to cli', () => {
  const wrong = imports.filter(({ file, target }) => layerOf(target) > layerOf(file))
  assert.deepEqual(wrong.map(describe), [])
})

test('among features imports point left, too', () => {
  const wrong = imports.filter(({ file, target }) => featureOf(file) !== -1 && featureOf(target) > featureOf(file))
  assert.deepEqual(wrong.map(describe), [])
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

test('the management API holds no SQL: it calls the features', () => {
  const wrong = files.filter(
    (file) =>
      file.startsWith('manage/') &&
      /\bsql(<[^`]*>)?`|\b(selectFrom|selectNoFrom|insertInto|updateTable|deleteFrom|mergeInto)\(|\bpool\.query\(/.test(
        source(file),
      ),
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
      /\.(code|status)\((\d{3})\)|statusCode/.test(source(file)),
  )
  assert.deepEqual(wrong, [])
})
