// Where the project's own files are, whether the program runs from its sources or as the bundle of `npm run build`.
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

const ROOT = findRoot(import.meta.dirname)

export const projectPath = (path: string): string => join(ROOT, path)

export const { version: VERSION } = JSON.parse(readFileSync(projectPath('package.json'), 'utf8')) as { version: string }

function findRoot(folder: string): string {
  return existsSync(join(folder, 'package.json')) ? folder : findRoot(dirname(folder))
}
