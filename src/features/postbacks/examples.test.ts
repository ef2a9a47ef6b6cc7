// The documentation for receivers, held against the program: macros, waits, and examples in four languages.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { createVectors, type Vector } from '../../../test/postback-vectors.ts'
import { assertPasses, EXAMPLE_FILES, folderOf, readVectors } from '../../../test/vector-examples.ts'
import { WAITS_MS } from './schedule.ts'
import { verifyMessage, verifyUrl } from './signing.ts'
import { MACROS } from './template.ts'

const ROOT = new URL('../../../', import.meta.url)
const FOLDER = folderOf('verify-postback')

const docs = readFileSync(new URL('docs/postbacks.md', ROOT), 'utf8')
const readExample = (file: string) => readFileSync(new URL(file, FOLDER), 'utf8')

test('the test vectors are those that the program produces, and it judges them as they say', () => {
  const vectors = JSON.parse(readVectors(FOLDER)) as Vector[]
  assert.deepEqual(
    vectors,
    createVectors(),
    'Run: node test/postback-vectors.ts > examples/verify-postback/vectors.json',
  )
  for (const { name, proof, secrets, headers, content, now, expect } of vectors) {
    const isOurs =
      proof === 'headers' ? verifyMessage(secrets, headers, content, now) === 'ok' : verifyUrl(secrets, content)
    assert.equal(isOurs ? 'ok' : 'wrong', expect, name)
  }
  assert.equal(new Set(vectors.map(({ content, headers, secrets, proof }) => JSON.stringify([content, headers, secrets, proof]))).size, vectors.length) // prettier-ignore
})

for (const file of EXAMPLE_FILES) {
  test(`${file} distinguishes valid postbacks from invalid ones`, () => assertPasses(FOLDER, file, createVectors()))

  test(`the docs show ${file} as it is`, () => {
    const shown = /Copy from here\n(.*?)\n[^\n]*to here\./s.exec(readExample(file))?.[1]?.trim() ?? ''
    assert.ok(shown.length > 500)
    assert.ok(docs.includes(`\n${shown}\n\`\`\`\n`), `docs/postbacks.md shows another text than ${file}.`)
  })
}

test('the docs list every macro, in its words', () => {
  const rows = Object.entries(MACROS).map(
    ([name, { description, example }]) => `| \`{${name}}\` | ${description} | \`${example}\` |`,
  )
  assert.ok(docs.includes(`\n|---|---|---|\n${rows.join('\n')}\n\n`), `The table should be:\n${rows.join('\n')}`)
})

test('the docs name the delays between attempts', () => {
  const waits = WAITS_MS.map((ms) =>
    ms < 60_000 ? `${ms / 1_000} s` : ms < 3_600_000 ? `${ms / 60_000} m` : `${ms / 3_600_000} h`,
  )
  assert.ok(docs.includes(`${waits.join(', ')} apart`), waits.join(', '))
})
