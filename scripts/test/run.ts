// Runs all tests, after seeing to what they need that npm cannot install: servers, a browser and tools.
// --looks: with how pages look; --all: with what takes long, too (test/tier.ts); --all --short: only what takes long, and
// less of it; --dashboard: the dashboard alone.
import { spawnSync } from 'node:child_process'
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, statfsSync, statSync } from 'node:fs'
import { freemem, tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { isBuilt } from '../../bin/built.js'
import { runFiles } from './pool.ts'

/** `instead`: what does as well, though slower, where nothing can be installed. `isLong`: only what takes long needs it. */
const NEEDED: { program: string; package: string; more?: string; instead?: string; isLong?: true }[] = [
  { program: 'redis-server', package: 'redis-server' },
  { program: 'chromium-headless-shell', package: 'chromium-headless-shell', instead: 'chromium' },
  { program: 'openssl', package: 'openssl' },
  { program: 'pgbouncer', package: 'pgbouncer' },
  { program: 'haproxy', package: 'haproxy' },
  { program: 'caddy', package: 'caddy', isLong: true },
  { program: 'nginx', package: 'nginx-light', isLong: true },
  { program: 'faketime', package: 'faketime' },
  { program: 'pg_ctlcluster', package: 'postgresql', isLong: true },
  // A small data centre: see test/faults/centre.
  { program: 'ip', package: 'iproute2', isLong: true },
  { program: 'patroni', package: 'patroni', more: 'python3-etcd', isLong: true },
  { program: 'etcd', package: 'etcd-server', isLong: true },
  { program: 'prometheus', package: 'prometheus', isLong: true },
  // Looks at the unit of deploy/systemd.
  ...(process.platform === 'linux' ? [{ program: 'systemd-analyze', package: 'systemd' }] : []),
  // The languages of the examples for receivers.
  { program: 'python3', package: 'python3' },
  { program: 'php', package: 'php-cli', more: 'php-sqlite3' },
  { program: 'go', package: 'golang-go' },
]

// Where Debian puts servers, which is not on everybody's path.
process.env['PATH'] = [process.env['PATH'], '/usr/sbin'].join(delimiter)

const has = (option: string) => process.argv.includes(option)
const given = process.argv.slice(2).filter((argument) => !argument.startsWith('--'))

const DASHBOARD = ['test/dashboard/*.test.ts']
const LONG = ['test/faults/**/*.test.ts', 'test/release/*.test.ts']
/** What the documentation asks readers to type: a whole start of the demo. */
const DOCUMENTS = ['test/docs/*.test.ts']
/** First what takes longest, then all the rest, wherever it is. */
const ALL = [...LONG, ...DASHBOARD, '{test,src,scripts}/**/*.test.ts']

/** Where files are memory: databases are copied for hundreds of tests, which a disk takes most of its time for. */
const IN_MEMORY = '/dev/shm'
const ROOM_BYTES = 8 * 1024 ** 3

installMissing()
if (!isBuilt()) spawnSync('npm', ['run', '--silent', 'build:program'], { stdio: 'inherit' })
const patterns = given.length > 0 ? given.map(asPattern) : chooseFiles()
process.env['OFFERDECK_TESTS'] = !has('--all') ? 'quick' : has('--short') ? 'short' : 'all'
process.env['OFFERDECK_LOOKS'] = has('--looks') ? 'on' : 'off'
process.env['NODE_COMPILE_CACHE'] ??= join(tmpdir(), 'offerdeck-compile-cache')
if (isRoomy(IN_MEMORY)) process.env['TMPDIR'] = createFolder(IN_MEMORY)
const left = given.length > 0 || has('--all') ? [] : DOCUMENTS
const usualMs = has('--all') && !has('--short') ? 1_800_000 : 900_000 // a busy machine may take nine times as long
// What a run of the data centre or the fuzzer is asked for comes on top, a request at 50 ms.
const askedMs = Number(process.env['DURATION'] ?? 0) * 1_000 + Number(process.env['REQUESTS'] ?? 0) * 50
process.exit(await runFiles(patterns, left, usualMs + askedMs))

/** Others may write to it, so that the database server may run as another user. Deleted when the tests end. */
function createFolder(parent: string): string {
  const folder = mkdtempSync(join(parent, 'offerdeck-'))
  chmodSync(folder, 0o1777)
  process.on('exit', () => rmSync(folder, { recursive: true, force: true, maxRetries: 10 }))
  for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => process.exit(1))
  return folder
}

/** Has room for the databases, and the machine for what else runs; programs may be started from it. */
function isRoomy(folder: string): boolean {
  const mounts = existsSync('/proc/mounts') ? readFileSync('/proc/mounts', 'utf8') : ''
  const mount = mounts.split('\n').find((line) => line.split(' ')[1] === folder)
  if (mount === undefined || mount.includes('noexec')) return false
  const { bavail, bsize } = statfsSync(folder)
  return bavail * bsize > ROOM_BYTES && freemem() > 2 * ROOM_BYTES
}

/** A folder means all tests in it. */
function asPattern(path: string): string {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true ? join(path, '**/*.test.ts') : path
}

function chooseFiles(): string[] {
  if (has('--short')) return [...LONG, ...DOCUMENTS]
  return has('--dashboard') ? DASHBOARD : ALL
}

function installMissing(): void {
  const canInstall = process.getuid?.() === 0 && isInstalled('apt-get')
  const missing = NEEDED.filter(
    ({ program, instead, isLong = false }) =>
      (!isLong || has('--all')) &&
      !isInstalled(program) &&
      (canInstall || instead === undefined || !isInstalled(instead)),
  ).flatMap((one) => (one.more === undefined ? [one.package] : [one.package, one.more]))
  if (missing.length === 0) return
  if (!canInstall) {
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
