// The examples that sign a wall's user, in four languages, held against the check of the server.
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { test } from 'node:test'
import { createWallVectors, type WallVector } from '../../../test/wall-vectors.ts'
import { checkSignature } from './signature.ts'

const FOLDER = new URL('../../../examples/sign-wall-user/', import.meta.url)
const LANGUAGES = [
  { file: 'node.mjs', command: [process.execPath] },
  { file: 'python.py', command: ['python3'] },
  { file: 'php.php', command: ['php'] },
  { file: 'go.go', command: ['go', 'run'] },
]
const text = readFileSync(new URL('vectors.json', FOLDER), 'utf8')

test('the server accepts the signature of each vector, and that of no other', () => {
  const vectors = JSON.parse(text) as WallVector[]
  assert.deepEqual(
    vectors,
    createWallVectors(),
    'Run: node test/wall-vectors.ts > examples/sign-wall-user/vectors.json',
  )
  for (const { name, secret, api_key: apiKey, user_id: userId, expires_at: expiresAtS } of vectors)
    for (const other of vectors) {
      const problem = checkSignature([secret], { apiKey, userId, expiresAtS }, other.signature, expiresAtS - 60)
      assert.equal(problem, other.name === name ? null : 'wrong', `${name}, with the signature of ${other.name}`)
    }
})

for (const { file, command } of LANGUAGES)
  test(`${file} signs as the server expects`, () => {
    const [program = '', ...args] = command
    const run = spawnSync(program, [...args, file], { cwd: fileURLToPath(FOLDER), input: text, encoding: 'utf8' })
    assert.equal(run.status, 0, run.stdout + run.stderr)
    assert.deepEqual(
      run.stdout.trimEnd().split(/\r?\n/),
      createWallVectors().map(({ name }) => `pass  ${name}`),
    )
  })
