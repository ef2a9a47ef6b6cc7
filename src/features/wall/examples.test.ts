// The examples that sign a wall's user, in four languages, held against the check of the server.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createWallVectors, type WallVector } from '../../../test/wall-vectors.ts'
import { assertPasses, EXAMPLE_FILES, folderOf, readVectors } from '../../../test/vector-examples.ts'
import { checkSignature } from './signature.ts'

const FOLDER = folderOf('sign-wall-user')

test('the server accepts the signature of each vector, and that of no other', () => {
  const vectors = JSON.parse(readVectors(FOLDER)) as WallVector[]
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

for (const file of EXAMPLE_FILES)
  test(`${file} signs as the server expects`, () => assertPasses(FOLDER, file, createWallVectors()))
