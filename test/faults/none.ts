import assert from 'node:assert/strict'

/** Shows a few only: the difference of thousands takes more memory than the machine has. */
export const none = (found: readonly unknown[], what: string): void =>
  assert.deepEqual(found.slice(0, 5), [], `${found.length} ${what}`)
