import { existsSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'

const ROOT = join(import.meta.dirname, '..')
const changedMs = (/** @type {string} */ path) => statSync(join(ROOT, path), { throwIfNoEntry: false })?.mtimeMs ?? 0

/** Whether the bundle of `npm run build` is there, and as new as what it is built from. A package has only the bundle. */
export function isBuilt() {
  const builtMs = changedMs('dist/main.js')
  const parts = existsSync(join(ROOT, 'src')) ? ['package-lock.json', ...listSources()] : []
  return builtMs > 0 && parts.every((path) => changedMs(path) <= builtMs)
}

function listSources() {
  const all = readdirSync(join(ROOT, 'src'), { recursive: true, encoding: 'utf8' })
  return all.filter((path) => path.endsWith('.ts') && !path.endsWith('.test.ts')).map((path) => join('src', path))
}
