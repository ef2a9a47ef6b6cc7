// Commands are tested inside of the test's own process (test/installation.ts). Here each is started once as a process.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { Installation } from '../../test/installation.ts'
import { COMMANDS } from './run.ts'

const AT_ONCE = 4
const home = new Installation()
after(() => home.remove())

/** Prints the packages that a process loaded, when it ends. */
const TELL_PACKAGES = `data:text/javascript,${encodeURIComponent(`
  import { registerHooks } from 'node:module'
  const packages = new Set()
  registerHooks({
    load(url, context, next) {
      const [, name] = /\\/node_modules\\/((?:@[^/]+\\/)?[^/]+)/.exec(url) ?? []
      if (name !== undefined) packages.add(name)
      return next(url, context)
    },
  })
  process.on('exit', () => process.stderr.write([...packages].toSorted().join(' ')))
`)}`
/** What only a server needs: together they take three times as long to load as the rest. */
const SLOW = ['@scalar/fastify-api-reference', 'ajv', 'better-auth', 'fastify', 'redis', 'typebox', 'undici']

test('every command starts as a process of its own, and loads little', async () => {
  const names = Object.keys(COMMANDS)
  const work = async () => {
    for (let name; (name = names.pop()) !== undefined;) {
      const { status, out, err } = await home.start([name, '--help'], { NODE_OPTIONS: `--import=${TELL_PACKAGES}` })
        .finished
      assert.equal(status, 0, name)
      const slow = SLOW.filter((one) => err.split(' ').includes(one))
      assert.deepEqual(slow, name === 'secret-key' ? ['better-auth'] : [], name)
      assert.match(out, new RegExp(`^Usage: offerdeck ${name} `))
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, work))
})

test('the overview loads no command', async () => {
  const { status, out, err } = await home.start(['--help'], { NODE_OPTIONS: `--import=${TELL_PACKAGES}` }).finished
  assert.equal(status, 0)
  assert.equal(err, 'commander')
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
