// The check of the lock against advisories that were downloaded before.
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { type Advisory, compareVersions, findAffected } from '../scripts/advisories.ts'
import { createFolder } from './folders.ts'

const ROOT = join(import.meta.dirname, '..')

const about = (name: string, events: object[], more: object = {}): Advisory => ({
  id: 'GHSA-1',
  affected: [{ package: { ecosystem: 'npm', name }, ranges: [{ type: 'SEMVER', events }] }],
  ...more,
})

test('versions are in the order of semantic versioning', () => {
  const inOrder = ['0', '0.9.10', '1.0.0-alpha', '1.0.0-alpha.1', '1.0.0-alpha.beta', '1.0.0-beta.2', '1.0.0-beta.11', '1.0.0', '1.2.0', '1.10.0'] // prettier-ignore
  assert.deepEqual(inOrder.toReversed().toSorted(compareVersions), inOrder)
  assert.equal(compareVersions('1.0.0+build.1', '1.0.0'), 0)
})

test('a package is affected from where it is introduced to before it is fixed', () => {
  const affected = (version: string, advisory: Advisory) => findAffected([{ name: 'a', version }], advisory).length > 0
  const twice = about('a', [{ introduced: '2.0.0' }, { fixed: '2.1.0' }, { introduced: '0' }, { fixed: '1.5.0' }])
  const expected = { '1.4.9': true, '1.5.0': false, '2.0.0-rc.1': false, '2.0.0': true, '2.1.0': false, '3.0.0': false }
  for (const [version, isAffected] of Object.entries(expected)) assert.equal(affected(version, twice), isAffected, version) // prettier-ignore
  const last = about('a', [{ introduced: '1.0.0' }, { last_affected: '1.2.0' }])
  assert.deepEqual([affected('1.2.0', last), affected('1.2.1', last)], [true, false])
  assert.equal(affected('1.2.0', about('b', [{ introduced: '0' }])), false)
  assert.equal(affected('1.2.0', about('a', [{ introduced: '0' }], { withdrawn: '2026-01-01T00:00:00Z' })), false)
  const other = { id: 'PYSEC-1', affected: [{ package: { ecosystem: 'PyPI', name: 'a' }, versions: ['1.2.0'] }] }
  assert.equal(affected('1.2.0', other), false)
})

test('the command names what is affected in production, and fails', () => {
  const folder = createFolder('advisories')
  const run = () =>
    spawnSync(process.execPath, ['scripts/check-advisories.ts', folder], { cwd: ROOT, encoding: 'utf8' })
  assert.equal(run().status, 2)
  const write = (name: string, advisory: Advisory) => writeFileSync(join(folder, name), JSON.stringify(advisory))
  write('a.json', about('no-such-package', [{ introduced: '0' }]))
  write('b.json', about('oxlint', [{ introduced: '0' }])) // for development only
  assert.deepEqual([run().status, run().stderr], [0, ''])
  write('c.json', about('fastify', [{ introduced: '0' }], { summary: 'Nothing is safe' }))
  const { status, stderr } = run()
  const { dependencies } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { dependencies: Record<string, string> } // prettier-ignore
  assert.deepEqual([status, stderr], [1, `fastify@${dependencies['fastify']}: GHSA-1 Nothing is safe\n`])
})
