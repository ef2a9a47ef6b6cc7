// The examples that verify proofs, in four languages, held against the check of the server.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createProofVectors, type ProofVector } from '../../../test/proof-vectors.ts'
import { assertPasses, EXAMPLE_FILES, folderOf, readVectors } from '../../../test/vector-examples.ts'
import { checkProof } from './proofs.ts'

const FOLDER = folderOf('verify-proof')

test('the test vectors of proofs are those that the program signs, and it judges them as they say', () => {
  const vectors = JSON.parse(readVectors(FOLDER)) as ProofVector[]
  assert.deepEqual(vectors, createProofVectors(), 'Run: node test/proof-vectors.ts > examples/verify-proof/vectors.json') // prettier-ignore
  for (const { name, secrets, locker_id, proof, now, visitor_id } of vectors) {
    const checked = checkProof(secrets, proof, now)
    const isOfLocker = typeof checked === 'object' && checked.lockerId === locker_id
    assert.equal(isOfLocker ? checked.visitorId : null, visitor_id, name)
  }
})

for (const file of EXAMPLE_FILES)
  test(`${file} distinguishes valid proofs from invalid ones`, () => assertPasses(FOLDER, file, createProofVectors()))
