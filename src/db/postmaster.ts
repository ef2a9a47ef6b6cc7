// One PostgreSQL server process: initdb, starting it beside its watchdog, recognising a dead one, stopping it.
import { type SpawnSyncReturns, spawn, spawnSync } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import {
  closeSync,
  existsSync,
  openSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { OperatorError } from '../errors.ts'
import type { Cluster } from './cluster.ts'

export const MAJOR = '18'
const MAX_LOG_BYTES = 10_000_000
const STOP_PATIENCE_MS = 10_000

// The server runs in the background of a shell. A joining process writes a name into the pipe, and sees a file of that
// name appear: proof that the watchdog is there and will wait for this process, too. At the end of the pipe it stops
// the server. The shell reaps the server, so no zombie makes the next start believe that it still runs.
const WATCHDOG = `alive=$1; joined=$2; shift 2
"$@" </dev/null & server=$!
trap 'kill -INT $server' TERM INT
(while read -r name; do : >"$joined/$name"; done <"$alive"; kill -INT $server) & watch=$!
wait $server; status=$?
kill $watch 2>/dev/null
exit $status`

export async function startPostmaster(
  cluster: Cluster,
  password: string,
  superuser: string,
): Promise<{ hasExited(): boolean }> {
  prepareData(cluster, password, superuser)
  const settings = {
    listen_addresses: '',
    unix_socket_directories: cluster.socketDir,
    unix_socket_permissions: '0700',
    max_connections: '200',
    shared_buffers: '256MB',
    max_wal_size: '4GB',
    max_locks_per_transaction: '512',
    timezone: 'UTC',
    log_timezone: 'UTC',
  }
  const args = [
    '-D',
    cluster.dataDir,
    ...Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]),
  ]
  if (existsSync(cluster.logFile) && statSync(cluster.logFile).size > MAX_LOG_BYTES) rmSync(cluster.logFile)
  const log = openSync(cluster.logFile, 'a', 0o600)
  // Detached: Ctrl-C in the terminal is for the program, which then lets go of the server in its own time.
  const child = spawn(
    '/bin/sh',
    ['-c', WATCHDOG, 'watchdog', cluster.aliveFile, cluster.joinedDir, cluster.binaries.postgres, ...args],
    {
      ...cluster.runAs,
      cwd: '/',
      stdio: ['ignore', log, log],
      detached: true,
    },
  )
  closeSync(log)
  let exited = false
  child.on('exit', () => (exited = true))
  child.on('error', () => (exited = true))
  child.unref()
  return { hasExited: () => exited }
}

function prepareData(cluster: Cluster, password: string, superuser: string): void {
  const versionFile = join(cluster.dataDir, 'PG_VERSION')
  if (existsSync(versionFile)) {
    const major = readFileSync(versionFile, 'utf8').trim()
    if (major === MAJOR) return
    throw new OperatorError(
      `The data in ${cluster.dataDir} was written by PostgreSQL ${major}; this version of Offerdeck brings PostgreSQL ${MAJOR}.\n` +
        `Dump it with the Offerdeck that wrote it (pg_dump over the socket in ${cluster.socketDir}), move the folder away, start once, and restore the dump.`,
    )
  }
  // Created aside, under a unique name (one that was killed may still be at it), and moved into place when complete.
  for (const name of readdirSync(cluster.home)) {
    if (name.startsWith('data.new')) rmSync(join(cluster.home, name), { recursive: true, force: true, maxRetries: 3 })
  }
  const draft = join(cluster.home, `data.new-${randomUUID()}`)
  // The password goes through a pipe, never through a file or the list of processes. Node's own stdin is a socket,
  // which /dev/stdin cannot open; `cat` makes it a pipe.
  const made = spawnSync(
    '/bin/sh',
    [
      '-c',
      'cat | "$@"',
      'sh',
      cluster.binaries.initdb,
      '-D',
      draft,
      '-U',
      superuser,
      '-A',
      'scram-sha-256',
      '--pwfile=/dev/stdin',
      '-E',
      'UTF8',
      '--locale=C',
      '-c',
      'fsync=on',
    ],
    { ...cluster.runAs, cwd: '/', input: `${password}\n`, encoding: 'utf8' },
  )
  if (made.status !== 0)
    throw new OperatorError(`Cannot create the embedded database in ${cluster.home}:\n${why(made)}`)
  renameSync(draft, cluster.dataDir)
}

function why(result: SpawnSyncReturns<string>): string {
  return result.error?.message ?? (result.stderr.trim() || `exit status ${result.status}`)
}

/** The id of the server that runs on this cluster's data, or null. A zombie, or another program with that id, is not it. */
export function livePostmaster(cluster: Cluster): number | null {
  let pid: number
  try {
    pid = Number(readFileSync(join(cluster.dataDir, 'postmaster.pid'), 'utf8').split('\n')[0])
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null
    throw error
  }
  if (!Number.isInteger(pid) || pid <= 1) return null
  if (existsSync('/proc/self/stat')) return isOurs(pid, cluster.dataDir) ? pid : null
  const { stdout } = spawnSync('ps', ['-o', 'stat=,comm=', '-p', String(pid)], { encoding: 'utf8' })
  return /postgres/.test(stdout) && !stdout.startsWith('Z') ? pid : null
}

function isOurs(pid: number, dataDir: string): boolean {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1')
    if (/\) [ZX] /.test(stat) || !stat.includes('(postgres)')) return false
  } catch {
    return false
  }
  try {
    return readlinkSync(`/proc/${pid}/cwd`) === dataDir // a postmaster works in its data folder
  } catch {
    return false // ours runs as a user whose processes we can inspect
  }
}

/** Ends a server that runs without its watchdog, and clears what a dead one left that would block the next. */
export async function stopPostmaster(cluster: Cluster): Promise<void> {
  for (let waited = 0; ; waited += 10) {
    const pid = livePostmaster(cluster)
    if (pid === null) break
    if (waited === 0) process.kill(pid, 'SIGINT')
    if (waited === STOP_PATIENCE_MS) process.kill(pid, 'SIGQUIT') // as safe as a power cut: it recovers from its log
    await sleep(10)
  }
  rmSync(join(cluster.dataDir, 'postmaster.pid'), { force: true })
}
