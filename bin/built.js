import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'

const ROOT = join(import.meta.dirname, '..')
const changedMs = (/** @type {string} */ path) => statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0

/** Whether the bundle of `npm run build` is there, and as new as the sources. A package has no sources. */
export function isBuilt() {
  const builtMs = changedMs(join(ROOT, 'dist/main.js'))
  const sources = readdirSync(join(ROOT, 'src'), { recursive: true, encoding: 'utf8' })
  return (
    sources.every(
      (path) => !path.endsWith('.ts') || path.endsWith('.test.ts') || changedMs(join(ROOT, 'src', path)) <= builtMs,
    ) && builtMs > 0
  )
}
