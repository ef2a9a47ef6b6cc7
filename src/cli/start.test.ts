// Commands are tested inside of the test's own process (test/installation.ts). Here each is started once as a process.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { Installation } from '../../test/installation.ts'
import { COMMANDS } from './run.ts'

const AT_ONCE = 4
const home = new Installation()
after(() => home.remove())

test('every command starts as a process of its own', async () => {
  const names = Object.keys(COMMANDS)
  const work = async () => {
    for (let name; (name = names.pop()) !== undefined;) {
      const { status, out, err } = await home.start([name, '--help']).finished
      assert.deepEqual([status, err], [0, ''], name)
      assert.match(out, new RegExp(`^Usage: offerdeck ${name} `))
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, work))
})

test('a process that fails ends with status 1, says why on the standard error, and prints JSON where asked', async () => {
  const { status, out, err } = await home.start(['config', '--json'], { PORT: 'eighty' }).finished
  assert.equal(status, 1)
  assert.match(err, /PORT must/)
  assert.match((JSON.parse(out) as { error: string }).error, /PORT must/)
})
