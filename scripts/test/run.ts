// Runs all tests, after seeing to what they need that npm cannot install: servers, a browser and tools.
// --all: with what takes long (test/tier.ts); --all --short: only that, and less of it; --dashboard: the dashboard alone.
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { runFiles } from './pool.ts'

const NEEDED = [
  { program: 'redis-server', package: 'redis-server' },
  { program: 'chromium', package: 'chromium' },
  { program: 'openssl', package: 'openssl' },
  { program: 'pgbouncer', package: 'pgbouncer' },
  { program: 'faketime', package: 'faketime' },
]

// Where Debian puts servers, which is not on everybody's path.
process.env['PATH'] = [process.env['PATH'], '/usr/sbin'].join(delimiter)

const has = (option: string) => process.argv.includes(option)
const given = process.argv.slice(2).filter((argument) => !argument.startsWith('--'))

const DASHBOARD = ['test/dashboard/*.test.ts']
const LONG = ['test/faults/**/*.test.ts', ...DASHBOARD]
const EVERYTHING = [...LONG, 'test/{e2e,spec}/**/*.test.ts', 'test/*.test.ts', 'src/**/*.test.ts']

installMissing()
const patterns = given.length > 0 ? given : has('--short') ? LONG : has('--dashboard') ? DASHBOARD : EVERYTHING
process.env['OFFERDECK_TESTS'] = !has('--all') ? 'quick' : has('--short') ? 'short' : 'all'
process.env['NODE_COMPILE_CACHE'] ??= join(tmpdir(), 'offerdeck-compile-cache')
process.exit(await runFiles(patterns, { timeoutMs: has('--all') && !has('--short') ? 1_800_000 : 600_000 }))

function installMissing(): void {
  const missing = NEEDED.filter(({ program }) => !isInstalled(program)).map((one) => one.package)
  if (missing.length === 0) return
  if (process.getuid?.() !== 0 || !isInstalled('apt-get')) {
    console.error(
      `The tests need ${missing.join(' and ')}. On Debian or Ubuntu: sudo apt-get install ${missing.join(' ')}`,
    )
    process.exit(1)
  }
  console.log(`Installing ${missing.join(' and ')} …`)
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' }
  for (const args of [
    ['update', '-qq'],
    ['install', '-y', '-qq', '--no-install-recommends', ...missing],
  ]) {
    const { status } = spawnSync('apt-get', args, { stdio: ['ignore', 'ignore', 'inherit'], env })
    if (status !== 0) {
      console.error(`apt-get ${args.join(' ')} failed. Install ${missing.join(' and ')} by hand and try again.`)
      process.exit(1)
    }
  }
}

function isInstalled(program: string): boolean {
  return (process.env['PATH'] ?? '').split(delimiter).some((folder) => existsSync(join(folder, program)))
}
