// Packs a release: the program and the dashboard as `npm run build` makes them, with what the program reads beside them.
// Folders stay as they are in the repository. Nearly all packages are within the bundle, in the versions that were tested.
import { spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { isBuilt } from '../../bin/built.js'
import { OUTSIDE } from '../program.vite.config.ts'

export const ROOT = join(import.meta.dirname, '../..')
const COPIED = ['bin', 'dist', 'docs', 'examples', 'migrations', 'web/dist', 'src/http/examples.json', 'src/http/manage-examples.json', 'CHANGELOG.md', 'LICENSE', 'README.md', 'SECURITY.md', 'client/README.md'] // prettier-ignore
const KEPT = ['name', 'version', 'description', 'license', 'bin', 'type', 'engines', 'optionalDependencies'] as const

type Manifest = Record<(typeof KEPT)[number], unknown> & { dependencies: Record<string, string> }

/** Returns the path of the tarball, which is in this folder. */
export function pack(folder: string): string {
  const stage = join(folder, 'package')
  rmSync(stage, { recursive: true, force: true })
  mkdirSync(stage, { recursive: true })
  if (!isBuilt()) throw new Error('Build it first: npm run build')
  for (const path of COPIED) cpSync(join(ROOT, path), join(stage, path), { recursive: true })
  writeFileSync(join(stage, 'package.json'), JSON.stringify(manifest(), null, 2))
  return join(folder, run('npm', ['pack', '--silent', '--pack-destination', folder], stage).trim())
}

function manifest(): object {
  const all = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as Manifest
  return {
    ...Object.fromEntries(KEPT.map((key) => [key, all[key]])),
    dependencies: Object.fromEntries(OUTSIDE.map((name) => [name, all.dependencies[name]])),
  }
}

export function run(command: string, args: string[], cwd: string): string {
  const { status, stdout, stderr } = spawnSync(command, args, { cwd, encoding: 'utf8' })
  if (status !== 0) throw new Error(`${command} ${args.join(' ')} failed.\n${stdout}${stderr}`)
  return stdout
}
