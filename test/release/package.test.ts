// What is released works where there is nothing else: an empty folder, and whichever Node the system has.
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { delimiter, join } from 'node:path'
import { after, test } from 'node:test'
import { releaseChangelog } from '../../scripts/release/changelog.ts'
import { pack } from '../../scripts/release/pack.ts'
import { Installation } from '../installation.ts'
import { testLong } from '../tier.ts'

const installation = new Installation()
after(() => installation.remove())

testLong('the packed program is installed into an empty folder, starts by npx, and answers', async () => {
  const { folder } = installation
  // Without our own tools, among which there is a Node.
  const path = (process.env['PATH'] ?? '').split(delimiter).filter((one) => !one.includes('node_modules'))
  const env = { ...process.env, PATH: path.join(delimiter) }
  const run = (command: string, ...args: string[]) =>
    execFileSync(command, args, { cwd: folder, env, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] })
  run('npm', 'install', '--no-audit', '--no-fund', '--prefer-offline', pack(folder))
  assert.match(run('npx', 'offerdeck', '--version'), /^\d+\.\d+\.\d+\n$/)
  installation.program = [join(folder, 'node_modules/.bin/offerdeck')]
  const server = await installation.serve({ PATH: env.PATH })
  const key = /API key\s+(pk_live_\w+)/.exec(server.out)?.[1] ?? ''
  const secret = /API secret\s+(sk_live_\w+)/.exec(server.out)?.[1] ?? ''
  const reply = await fetch(`${server.url}/api/v1/offers?userId=u1`, {
    headers: { 'x-api-key': key, 'x-api-secret': secret },
  })
  const { data } = (await reply.json()) as { data: { total: number } }
  assert.ok(data.total > 0)
  const page = await (await fetch(server.url)).text()
  const script = /src="(\/[^"]+\.js)"/.exec(page)?.[1]
  assert.equal((await fetch(`${server.url}${script}`)).status, 200)
  await server.kill('SIGTERM')
  assert.equal((await server.finished).status, 0)
})

test('a release gives what is unreleased a version', () => {
  const released = releaseChangelog(
    '# Changelog\n\n## Unreleased\n\n- New.\n\n## 0.1.0\n\n- Old.\n',
    '0.2.0',
    '2027-01-02',
  )
  assert.equal(released, '# Changelog\n\n## Unreleased\n\n## 0.2.0 (2027-01-02)\n\n- New.\n\n## 0.1.0\n\n- Old.\n')
  assert.throws(() => releaseChangelog('# Changelog\n\n## Unreleased\n\n## 0.1.0\n\n- Old.\n', '0.2.0', '2027-01-02'), {
    message: 'CHANGELOG.md has nothing under "Unreleased": there is nothing to release.',
  })
})
