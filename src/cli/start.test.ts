// Commands are tested inside of the test's own process (test/installation.ts). Here each is started once as a process.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { useOperator } from '../../test/operator.ts'
import { COMMANDS } from './run.ts'

const AT_ONCE = 4
const { home } = useOperator({ worker: false })

/** Prints how much a process loaded, in kB, when it ends. */
const TELL_SIZE = `data:text/javascript,${encodeURIComponent(`
  import { statSync } from 'node:fs'
  import { registerHooks } from 'node:module'
  let bytes = 0
  registerHooks({
    load(url, context, next) {
      if (url.startsWith('file:')) bytes += statSync(new URL(url)).size
      return next(url, context)
    },
  })
  process.on('exit', () => process.stderr.write(String(Math.round(bytes / 1000))))
`)}`
/** What only a server needs is 3 MB. */
const MAX_KB = 1_500
const MAX_OVERVIEW_KB = 200

test('every command starts as a process of its own, and loads little', async () => {
  const names = Object.keys(COMMANDS)
  const work = async () => {
    for (let name; (name = names.pop()) !== undefined;) {
      const { status, out, err } = await home.start([name, '--help'], { NODE_OPTIONS: `--import=${TELL_SIZE}` })
        .finished
      assert.equal(status, 0, name)
      assert.ok(Number(err) < MAX_KB, `${name} loads ${err} kB`)
      assert.match(out, new RegExp(`^Usage: offerdeck ${name} `))
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, work))
})

test('a command that uses the database loads little, too', async () => {
  const { status, err } = await home.start(['publisher', 'list', '--json'], { NODE_OPTIONS: `--import=${TELL_SIZE}` })
    .finished
  assert.equal(status, 0, err)
  assert.ok(Number(err) > 100 && Number(err) < MAX_KB, `it loads ${err} kB`)
})

test('the overview loads no command', async () => {
  const { status, out, err } = await home.start(['--help'], { NODE_OPTIONS: `--import=${TELL_SIZE}` }).finished
  assert.equal(status, 0)
  assert.ok(Number(err) < MAX_OVERVIEW_KB, `it loads ${err} kB`)
  for (const [name, { about, load, isGroup }] of Object.entries(COMMANDS)) {
    assert.ok(out.replaceAll(/\s+/g, ' ').includes(about), name)
    assert.equal((await load()).commands.length > 0, isGroup, name)
  }
})

test('a process that fails ends with status 1, says why on the standard error, and prints JSON where asked', async () => {
  const { status, out, err } = await home.start(['config', '--json'], { PORT: 'eighty' }).finished
  assert.equal(status, 1)
  assert.match(err, /PORT must/)
  assert.match((JSON.parse(out) as { error: string }).error, /PORT must/)
})
