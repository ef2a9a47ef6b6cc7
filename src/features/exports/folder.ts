// A folder as target. A file is written in `.tmp` beside the others and moved when it is on disk.
import { randomUUID } from 'node:crypto'
import { mkdir, open, readdir, rename, rm, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Target } from './target.ts'

/** What is older was left behind by a process that was killed. */
const LEFT_BEHIND_MS = 3_600_000

export function createFolderTarget(folder: string): Target {
  const unfinished = join(folder, '.tmp')
  return {
    url: pathToFileURL(folder).href,
    sizeOf: (path) =>
      stat(join(folder, path)).then(
        ({ size }) => size,
        (error: NodeJS.ErrnoException) => {
          if (error.code === 'ENOENT') return null
          throw error
        },
      ),
    async put(path, content) {
      const file = join(folder, path)
      // The folder itself is not created: where a disk is not mounted, everything would go to another one.
      await createFolder(unfinished)
      await forgetUnfinished(unfinished)
      const temporary = join(unfinished, randomUUID())
      try {
        await writeWhole(temporary, content)
        await mkdir(dirname(file), { recursive: true })
        await rename(temporary, file)
      } catch (error) {
        await rm(temporary, { force: true })
        throw error
      }
      await syncFolder(dirname(file))
    },
    close() {}, // a write to a disk ends soon
  }
}

async function createFolder(path: string): Promise<void> {
  await mkdir(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EEXIST') throw error
  })
}

async function writeWhole(path: string, content: Buffer): Promise<void> {
  await using file = await open(path, 'wx')
  await file.writeFile(content)
  await file.sync()
}

/** So that the name survives a power cut, too. */
async function syncFolder(path: string): Promise<void> {
  await using folder = await open(path, 'r')
  await folder.sync()
}

async function forgetUnfinished(folder: string): Promise<void> {
  for (const name of await readdir(folder)) {
    const path = join(folder, name)
    const { mtimeMs = Infinity } = (await stat(path).catch(() => null)) ?? {}
    if (mtimeMs < Date.now() - LEFT_BEHIND_MS) await rm(path, { force: true })
  }
}
