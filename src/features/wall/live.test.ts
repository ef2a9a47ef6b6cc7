import assert from 'node:assert/strict'
import { IncomingMessage, ServerResponse } from 'node:http'
import { Socket } from 'node:net'
import { test } from 'node:test'
import { LiveWalls } from './live.ts'

test('one network cannot use up the streams of all others by being ever new visitors', () => {
  const walls = new LiveWalls({ subscribe: () => () => {} })
  let visitors = 0
  const responses: ServerResponse[] = []
  const open = (network: string | null) => {
    const response = new ServerResponse(new IncomingMessage(new Socket()))
    responses.push(response)
    return walls.open({ appId: 1, isTest: false, userId: `visitor-${visitors++}` }, response, Infinity, network)
  }
  const opened = Array.from({ length: 101 }, () => open('a'))
  assert.deepEqual([opened.filter(Boolean).length, opened.at(-1)], [100, false])
  assert.deepEqual([open('b'), open(null), walls.count], [true, true, 102])
  responses[0]?.emit('close')
  assert.deepEqual([open('a'), open('a')], [true, false])
  walls.close()
})
