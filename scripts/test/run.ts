// Runs all tests, after seeing to what they need that npm cannot install: servers, a browser and tools.
// With --faults it runs only the fault tests, with as many rounds as they have; with --dashboard only the dashboard in a
// browser.
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

const faults = process.argv.includes('--faults')
const dashboard = process.argv.includes('--dashboard')
const given = process.argv.slice(2).filter((argument) => !argument.startsWith('--'))

installMissing()
const patterns =
  given.length > 0
    ? given
    : faults
      ? ['test/faults/**/*.test.ts', 'src/features/conversions/model.test.ts']
      : dashboard
        ? ['test/dashboard/*.test.ts']
        : ['test/{faults,dashboard,e2e,spec}/**/*.test.ts', 'test/*.test.ts', 'src/**/*.test.ts']
process.env['OFFERDECK_FAULT_ROUNDS'] = faults ? '30' : '3'
process.env['NODE_COMPILE_CACHE'] ??= join(tmpdir(), 'offerdeck-compile-cache')
process.exit(await runFiles(patterns, { timeoutMs: faults ? 1_800_000 : 600_000 }))

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
