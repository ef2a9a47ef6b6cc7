// What the tests of this repository run in: a failure is never lost, and hooks run in the order of node:test.
import assert from 'node:assert/strict'
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { rmSync, writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { after, test } from 'node:test'
import { createFolder } from '../../test/folders.ts'
import type { FromWorker } from './worker.ts'

const folder = createFolder('harness')
after(() => rmSync(folder, { recursive: true }))

/** Runs a file with this text; returns what it printed, and what the pool was sent: "crashed" where its process ended. */
async function runFile(text: string, timeoutMs = 10_000): Promise<{ printed: string; sent: string[] }> {
  const file = join(folder, 'some.test.ts')
  writeFileSync(file, `import { after, afterEach, before, beforeEach, test } from 'node:test'\n${text}`)
  const worker = fork(join(import.meta.dirname, 'worker.ts'), { stdio: ['ignore', 'pipe', 'ignore', 'ipc'] })
  const sent: string[] = []
  let printed = ''
  worker.stdout?.on('data', (chunk: Buffer) => (printed += chunk.toString()))
  worker.on('message', (message: FromWorker) => {
    if (message.kind === 'ready' && sent.length > 0) return worker.disconnect()
    if (message.kind === 'ready') worker.send({ file: relative(process.cwd(), file), timeoutMs })
    sent.push(message.kind === 'failed' ? `failed: ${message.failure.name}` : message.kind)
  })
  const [[status]] = await Promise.all([once(worker, 'exit'), worker.stdout === null || once(worker.stdout, 'end')])
  return { printed, sent: status === 0 ? sent.slice(1) : [...sent.slice(1), 'crashed'] }
}

test('hooks run around each test and around the file, and what a test leaves is done at its end', async () => {
  const { printed, sent } = await runFile(`
    before(() => console.log('1 before'))
    after(() => console.log('7 after'))
    after(() => console.log('8 and after that'))
    beforeEach(() => console.log('2 before each'))
    afterEach(() => console.log('5 after each'))
    test('passes', async (t) => {
      t.after(() => console.log('6 after this one'))
      console.log('3 test')
      await new Promise(setImmediate)
      console.log('4 still it')
    })`)
  const order = printed.split('\n').flatMap((line) => /^\d/.exec(line)?.[0] ?? [])
  assert.deepEqual(order, ['1', '2', '3', '4', '5', '6', '7', '8'])
  assert.match(printed, /✔ passes \(\d+ ms\)/)
  assert.deepEqual(sent, ['passed', 'done'])
})

test('what fails is reported: thrown, rejected, not awaited, in a hook, or without an end', async () => {
  const failures: [string, string[]][] = [
    [`test('throws', () => { throw new Error() }); test('next', () => {})`, ['failed: throws', 'passed']],
    [`test('rejects', () => Promise.reject(new Error()))`, ['failed: rejects']],
    [`test('late', async () => { void Promise.reject(new Error()); await new Promise(() => {}) })`, ['failed: late']],
    [`test('timer', () => new Promise(() => setTimeout(() => { throw new Error() })))`, ['failed: timer']],
    [`test('endless', () => new Promise(() => {})); test('next', () => {})`, ['failed: endless', 'passed']],
    [`before(() => { throw new Error() }); test('x', () => {})`, ['failed: what comes before the tests']],
    [`after(() => { throw new Error() }); test('x', () => {})`, ['passed', 'failed: what comes after the tests']],
    [`afterEach(() => { throw new Error() }); test('x', () => {})`, ['failed: x']],
    [`test('leaves', (t) => t.after(() => { throw new Error() }))`, ['failed: leaves']],
    [`import './none.ts'`, ['failed: the file is loaded']],
    [`this is no TypeScript`, ['failed: the file is loaded']],
  ]
  for (const [text, expected] of failures)
    assert.deepEqual((await runFile(text, 300)).sent, [...expected, 'done'], text)
})

test('a file whose process ends counts as crashed', async () => {
  assert.deepEqual((await runFile(`test('ends', () => process.exit(3))`)).sent, ['crashed'])
})

test('what a test replaced is put back after it', async () => {
  const { sent } = await runFile(`
    const thing = { answer: () => 1 }
    test('replaces', (t) => void t.mock.method(thing, 'answer', () => 2))
    test('has it again', () => { if (thing.answer() !== 1) throw new Error() })`)
  assert.deepEqual(sent, ['passed', 'passed', 'done'])
})
