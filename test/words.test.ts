// Plain words, also in comments and documents: what the tree once said and should not say again. And one name for one thing.
import assert from 'node:assert/strict'
import { globSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { COMMANDS } from '../src/cli/run.ts'

/** Each with what to say instead. */
const REPLACED: [RegExp, string][] = [
  [/\b(somebody|whoever|nobody|anybody)\b/i, 'the actual role: publisher, operator, visitor, worker, another process'],
  [/\bgiv(en|es) up\b|\bgiven_?up\b/i, 'failed'],
  [/\bgoes before\b/i, 'takes precedence over'],
  [/\bcannot make (a|an|the)\b/i, 'cannot create'],
  [/\btakes? in (every|other|all)\b/i, 'accepts, allows, spans'],
  [/\b(is|are|was|were) told\b(?! apart)/i, 'notified, sent, shown'],
  [/\bfare\b/i, 'health'],
  [/\bdeeds?\b/i, 'audit entry'],
  [/\b(database|PostgreSQL|Redis|server|it) is away\b|\b(or|counts as) away\b/i, 'is unavailable, down'],
  [/\bHow long .* stays? good\b/i, 'keeps working, stays valid'],
  [/\bturn it on\b/i, 'enable'],
  [/\bMore about it\b|'What is to be done/, 'Details, Goal name'],
  [/\bgood for \d/i, 'valid for'],
]
/** `nobody` is a user of the operating system, and a story is a story. */
const OTHER_WORDS = ['src/db/cluster.ts', 'src/demo/story.ts']

test('comments, texts and documents use plain words', () => {
  const files = globSync([
    '{src,bin,scripts,examples,client/src,web/*/,bench}/**/*.{ts,tsx,js,mjs,php,py,go}',
    '{docs,client,bench}/*.md',
    '{README,ARCHITECTURE,CONTRIBUTING,SECURITY}.md',
  ]).filter((file) => !/\.test\.ts$|^web\/dist\/|\/node_modules\/|\/dist\//.test(file) && !OTHER_WORDS.includes(file))
  assert.ok(files.length > 500, `${files.length} files`)
  const found = files.flatMap((file) =>
    readFileSync(file, 'utf8')
      .split('\n')
      .flatMap((line, i) =>
        REPLACED.filter(([phrase]) => phrase.test(line)).map(
          ([phrase, instead]) => `${file}:${i + 1}: "${phrase.exec(line)?.[0]}": say ${instead}`,
        ),
      ),
  )
  assert.deepEqual(found, [])
})

test('texts name commands as they are run', () => {
  const command = new RegExp(`(?<!npx )\\bofferdeck (${Object.keys(COMMANDS).join('|')})\\b`)
  const found = globSync(['src/**/*.ts', 'web/*/**/*.{ts,tsx}'])
    .filter((file) => !/\.test\.ts$|^web\/dist\//.test(file))
    .flatMap((file) =>
      readFileSync(file, 'utf8')
        .split('\n')
        .filter((line) => !/^\s*(\/\/|\*|\/\*)/.test(line) && command.test(line))
        .map((line) => `${file}: ${line.trim()}`),
    )
  assert.deepEqual(found, [])
})

test('the dashboard names statuses in one place', () => {
  const home = 'web/dashboard/src'
  const label =
    /\b(approved|pending|rejected|reversed|delivered|queued|active|paused|suspended|revoked|expired): (?:\{ label: )?'\1'/i
  const having = readdirSync(home, { recursive: true, encoding: 'utf8' }).filter(
    (file) => /\.tsx?$/.test(file) && label.test(readFileSync(join(home, file), 'utf8')),
  )
  assert.deepEqual(having, ['lib/statuses.ts'])
})

test('decisions about conversions speak camel case: rows are translated at the edges', () => {
  const rules = readdirSync('src', { recursive: true, encoding: 'utf8' }).filter((file) =>
    /^features\/conversions\/(decide[^/]*|apply-[^/]*|outcomes|resolve-goal)\.ts$/.test(file),
  )
  assert.ok(rules.length >= 7)
  const wrong = rules.filter((file) =>
    /^[^'`\n]*(\.[a-z]+_[a-z]|\b[a-z]+(_[a-z]+)+\??:)/m.test(readFileSync(join('src', file), 'utf8')),
  )
  assert.deepEqual(wrong, [])
})
