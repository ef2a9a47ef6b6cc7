// The examples that verify proofs, in four languages, held against the check of the server.
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { test } from 'node:test'
import { createProofVectors, type ProofVector } from '../../../test/proof-vectors.ts'
import { checkProof } from './proofs.ts'

const FOLDER = new URL('../../../examples/verify-proof/', import.meta.url)
const LANGUAGES = [
  { file: 'node.mjs', command: [process.execPath] },
  { file: 'python.py', command: ['python3'] },
  { file: 'php.php', command: ['php'] },
  { file: 'go.go', command: ['go', 'run'] },
]
const text = readFileSync(new URL('vectors.json', FOLDER), 'utf8')

test('the test vectors of proofs are those that the program signs, and it judges them as they say', () => {
  const vectors = JSON.parse(text) as ProofVector[]
  assert.deepEqual(vectors, createProofVectors(), 'Run: node test/proof-vectors.ts > examples/verify-proof/vectors.json') // prettier-ignore
  for (const { name, secrets, locker_id, proof, now, visitor_id } of vectors) {
    const checked = checkProof(secrets, proof, now)
    const isOfLocker = typeof checked === 'object' && checked.lockerId === locker_id
    assert.equal(isOfLocker ? checked.visitorId : null, visitor_id, name)
  }
})

for (const { file, command } of LANGUAGES)
  test(`${file} distinguishes valid proofs from invalid ones`, () => {
    const [program = '', ...args] = command
    const run = spawnSync(program, [...args, file], { cwd: fileURLToPath(FOLDER), input: text, encoding: 'utf8' })
    assert.equal(run.status, 0, run.stdout + run.stderr)
    assert.deepEqual(
      run.stdout.trimEnd().split(/\r?\n/),
      createProofVectors().map(({ name }) => `pass  ${name}`),
    )
  })
