import assert from 'node:assert/strict'
import { test } from 'node:test'
import { problemsOf, refuses } from '../test/config-problems.ts'
import { loadConfig } from './config.ts'

test('TRUST_PROXY accepts IP addresses and ranges', () => {
  for (const cidr of ['127.0.0.1', '10.0.0.0/8', '::1', 'fd00::/8', '192.168.1.0/24'])
    assert.deepEqual(loadConfig({ TRUST_PROXY: cidr }).trustProxy, [cidr])
  assert.deepEqual(loadConfig({ TRUST_PROXY: ' , 10.1.2.3 ,, ' }).trustProxy, ['10.1.2.3'])
})

test('TRUST_PROXY refuses names, wildcards and partial addresses', () => {
  for (const bad of [
    '*',
    '0.0.0.0/0',
    '::/0',
    'localhost',
    'loopback',
    'true',
    'proxy.example.com',
    '10.0.0.0/33',
    '1',
  ])
    refuses({ TRUST_PROXY: bad }, /^TRUST_PROXY has "/)
})

test('TRUST_PROXY refuses the IPv6 range that stands for every IPv4 address', () => {
  for (const range of ['::ffff:0:0/96', '::ffff:0.0.0.0/96', '::/64'])
    refuses({ TRUST_PROXY: range }, /^TRUST_PROXY has "::/)
})

test('every bad entry of TRUST_PROXY is named', () => {
  const problems = problemsOf({ TRUST_PROXY: '10.0.0.0/8,*,nobody,::/0' })
  assert.deepEqual(
    problems.map((problem) => /"(.*?)"/.exec(problem)?.[1]),
    ['*', 'nobody', '::/0'],
  )
})
