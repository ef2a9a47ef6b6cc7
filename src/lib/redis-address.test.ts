import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readRedisAddress } from './redis-address.ts'

test('one server, Sentinel, a cluster', () => {
  const plain = { kind: 'server', isEncrypted: false, nodes: [{ host: 'cache', port: 6379 }], name: '' }
  assert.deepEqual(readRedisAddress('redis://cache'), plain)
  assert.deepEqual(readRedisAddress('redis://cache:6379/2'), { ...plain, name: '2' })
  assert.deepEqual(readRedisAddress('rediss://u:p%40ss@cache'), { ...plain, isEncrypted: true, username: 'u', password: 'p@ss' }) // prettier-ignore
  assert.deepEqual(readRedisAddress('redis://:secret@[::1]:7000'), { ...plain, password: 'secret', nodes: [{ host: '::1', port: 7000 }] }) // prettier-ignore
  assert.deepEqual(readRedisAddress('redis+sentinel://a,b:1,10.0.0.3/offers'), {
    ...plain,
    kind: 'sentinel',
    nodes: [{ host: 'a', port: 26_379 }, { host: 'b', port: 1 }, { host: '10.0.0.3', port: 26_379 }],
    name: 'offers',
  }) // prettier-ignore
  const cluster = readRedisAddress('rediss+cluster://:p@a:1,b')
  assert.deepEqual(cluster?.nodes, [{ host: 'a', port: 1 }, { host: 'b', port: 6379 }]) // prettier-ignore
  assert.deepEqual([cluster?.kind, cluster?.isEncrypted, cluster?.password], ['cluster', true, 'p'])
})

test('what is no address', () => {
  for (const text of [
    '',
    'redis://',
    'http://a',
    'redis://a,b',
    'redis://a:0',
    'redis://a:70000',
    'redis://a/x',
    'redis+sentinel://a,b',
    'redis+cluster://a/0',
    'redis+ring://a',
    'redis://a b',
    'redis+sentinel://a,,b/x',
    'redis://a?x=1',
  ])
    // prettier-ignore
    assert.equal(readRedisAddress(text), null, text)
})
