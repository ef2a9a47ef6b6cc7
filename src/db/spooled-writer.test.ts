import assert from 'node:assert/strict'
import { rmSync } from 'node:fs'
import { after, test } from 'node:test'
import { createFolder } from '../../test/folders.ts'
import { Spool } from './spool.ts'
import { SpooledWriter } from './spooled-writer.ts'

const folder = createFolder('spooled-writer')
after(() => rmSync(folder, { recursive: true, force: true }))

const failing = (code: string, message: string) => Object.assign(new Error(message), { code })

test('a row that the database refuses for another reason than its own goes to the spool, and the log says why, once', async () => {
  const failures = [
    failing('42P05', 'prepared statement "x" already exists'),
    failing('42P05', 'prepared statement "x" already exists'),
    failing('40P01', 'deadlock detected'),
  ]
  const warnings: string[] = []
  const replayed: number[] = []
  const writer = new SpooledWriter<number, string>({
    write: async () => {
      throw failures[0] ?? new Error('no more')
    },
    writeLate: async (rows) => replayed.push(...rows),
    spool: new Spool(folder),
    spooled: 'spooled',
    concurrency: 1,
    requestOf: String,
    warn: (message) => warnings.push(message),
  })
  after(() => writer.close())
  for (let row = 0; failures.length > 0; row++, failures.shift()) assert.equal(await writer.save(row), 'spooled')
  assert.deepEqual(warnings.map((text) => text.split(': ')[1]), ['prepared statement "x" already exists', 'deadlock detected']) // prettier-ignore
  await writer.replay()
  assert.deepEqual(replayed, [0, 1, 2])
})
