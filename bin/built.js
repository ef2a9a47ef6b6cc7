import { existsSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'

const ROOT = join(import.meta.dirname, '..')
const PROGRAM = 'dist/main.js'
const BUILT = [
  PROGRAM,
  'web/dist/index.html',
  ...['wall', 'sdk', 'locker', 'locker-embed'].map((name) => `web/dist/client/${name}.js`),
]

/** Whether the bundle of `npm run build` is there, and as new as what it is built from. A package has only the bundle. */
export const isBuilt = (root = ROOT) => isNewer(root, [PROGRAM], ['src'])

/** The same, of the pages as well, and whatever time an archive gave to the sources. */
export const isAllBuilt = (root = ROOT) => isNewer(root, BUILT, ['src', 'web', 'examples', 'scripts'], 'ctimeMs')

/** Whether each of these files is there, and no source is newer. */
function isNewer(
  /** @type {string} */ root,
  /** @type {string[]} */ built,
  /** @type {string[]} */ folders,
  /** @type {'mtimeMs' | 'ctimeMs'} */ changed = 'mtimeMs',
) {
  const look = (/** @type {string} */ path) => statSync(join(root, path), { throwIfNoEntry: false })
  const oldestMs = Math.min(...built.map((path) => look(path)?.mtimeMs ?? 0))
  // A package has no program in src/, only files that it reads, which may be newer than the bundle.
  const hasSources = existsSync(join(root, 'src/app.ts'))
  const sources = hasSources ? ['package-lock.json', ...folders.flatMap((folder) => listSources(root, folder))] : []
  return oldestMs > 0 && sources.every((path) => (look(path)?.[changed] ?? 0) <= oldestMs)
}

function listSources(/** @type {string} */ root, /** @type {string} */ folder) {
  const all = readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
  return all.filter((path) => /(?<!\.test)\.\w+$/.test(path) && !path.startsWith('dist')).map((path) => join(folder, path)) // prettier-ignore
}
