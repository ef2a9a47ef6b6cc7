// A backup put back, as the embedded database of a folder that has none.
import { randomUUID } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, realpathSync, statSync } from 'node:fs'
import { chown, mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { OperatorError } from '../../errors.ts'
import { withFileLock } from '../../lib/file-lock.ts'
import { VERSION } from '../../lib/project.ts'
import { locateCluster, type Cluster } from '../cluster.ts'
import { createDataDir } from '../embedded.ts'
import { MAJOR } from '../postmaster.ts'
import { RESTORED } from '../skip-numbers.ts'
import { extractArchive, OWN_FOLDER } from './archive.ts'
import { type BackupFacts, FACTS, FORMAT, SECRET_KEY } from './backup.ts'

const SECRETS = [SECRET_KEY, 'postgres-password']

/** The database gets its place last: until then, this can be repeated. What is left to do then is noted in it. */
export async function restoreBackup(file: string, passphrase: string, dataDir: string): Promise<BackupFacts> {
  if (!existsSync(file)) throw new OperatorError(`There is no file ${file}.`)
  createDataDir(dataDir)
  const folder = realpathSync(dataDir)
  const cluster = await locateCluster(folder)
  return withFileLock(join(cluster.home, 'start.lock'), async () => {
    if (existsSync(cluster.dataDir)) throw new OperatorError(`There is already a database in ${dataDir}. ${MOVE_AWAY}`)
    const draft = await createDraft(cluster)
    try {
      await extractArchive(file, passphrase, draft, cluster.runAs)
      const own = join(draft, OWN_FOLDER)
      const facts = readFacts(join(own, FACTS), file)
      await placeOwnFiles(own, folder)
      await rename(join(own, FACTS), join(draft, RESTORED))
      await rm(own, { recursive: true })
      await rename(draft, cluster.dataDir)
      return facts
    } catch (error) {
      await rm(draft, { recursive: true, force: true, maxRetries: 20 }) // files that were under way still arrive
      throw error
    }
  })
}

const MOVE_AWAY = 'Stop what uses it, and move the folder away or set DATA_DIR to an empty one.'

/** Named as a database that is being created: one that was cut short is removed at the next start. */
async function createDraft({ home, runAs: { uid, gid } }: Cluster): Promise<string> {
  const draft = join(home, `data.new-${randomUUID()}`)
  mkdirSync(draft, { mode: 0o700 })
  if (uid !== undefined && gid !== undefined) await chown(draft, uid, gid)
  return draft
}

function readFacts(path: string, file: string): BackupFacts {
  if (!existsSync(path)) throw new OperatorError(`${file} is not a backup of Offerdeck.`)
  const facts = JSON.parse(readFileSync(path, 'utf8')) as BackupFacts
  if (facts.format === FORMAT && facts.postgres === MAJOR) return facts
  throw new OperatorError(
    `${file} was made by Offerdeck ${facts.version} with PostgreSQL ${facts.postgres}. Offerdeck ${VERSION} cannot read it: ` +
      'restore it with that version, and upgrade from there.',
  )
}

async function placeOwnFiles(own: string, folder: string): Promise<void> {
  for (const name of SECRETS) {
    const kept = join(folder, name)
    if (existsSync(kept) && readFileSync(kept, 'utf8') !== readFileSync(join(own, name), 'utf8'))
      throw new OperatorError(`${kept} belongs to another network. ${MOVE_AWAY}`)
  }
  for (const name of readdirSync(own).filter((one) => one !== FACTS)) await place(join(own, name), join(folder, name))
}

/** As files of the user who runs this: PostgreSQL may run as another one. */
async function place(from: string, to: string): Promise<void> {
  if (!statSync(from).isDirectory()) {
    await writeFile(to, await readFile(from), { mode: 0o600 })
    return
  }
  await mkdir(to, { recursive: true })
  for (const name of readdirSync(from)) await place(join(from, name), join(to, name))
}
