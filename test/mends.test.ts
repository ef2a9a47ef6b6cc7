import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { MENDS } from '../scripts/mends.ts'

test('each line that scripts/undo-mends.ts would undo is still where it looks for it', () => {
  for (const { file, now, without } of MENDS)
    assert.equal(
      readFileSync(file, 'utf8').split(now).length - 1,
      1,
      `Without it, ${without}. Look in ${file} for: ${now}`,
    )
})
