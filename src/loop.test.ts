import assert from 'node:assert/strict'
import { test } from 'node:test'
import { until } from '../test/installation.ts'
import { createLoop, NOTHING_TRIED } from './loop.ts'

test('what failed is said to work again once it was tried with success, not when there was nothing to try', async () => {
  const runs = [
    () => Promise.reject(new Error('refused')),
    () => Promise.resolve(NOTHING_TRIED),
    () => Promise.resolve(1),
  ]
  const said: string[] = []
  const log = { warn: (text: unknown) => said.push(String(text)), info: (text: unknown) => said.push(String(text)) }
  let count = 0
  const run = () => {
    said.push(`run ${count}`)
    return (runs[count++] ?? (() => Promise.resolve(1)))()
  }
  const loop = createLoop('sending mails', 1, log, { run })
  loop.start()
  await until(() => count > 3)
  await loop.stop()
  assert.deepEqual(said.slice(0, 5), [
    'run 0',
    'sending mails failed (refused); trying again until it works',
    'run 1',
    'run 2',
    'sending mails works again',
  ])
})
