// Packs a release: the program as JavaScript, because Node runs no TypeScript that is installed as a package, the built
// dashboard, and what the program itself imports of our dependencies. Folders stay as they are in the repository.
import { spawnSync } from 'node:child_process'
import { cpSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { builtinModules } from 'node:module'
import { join } from 'node:path'

const ROOT = join(import.meta.dirname, '../..')
const COPIED = ['bin', 'docs', 'examples', 'migrations', 'web/dist', 'src/http/examples.json', 'CHANGELOG.md', 'LICENSE', 'README.md', 'SECURITY.md'] // prettier-ignore
const KEPT = ['name', 'version', 'description', 'license', 'bin', 'type', 'engines', 'optionalDependencies'] as const

/** A package, without the path inside it; files of our own begin with a dot. */
const IMPORTED = /(?:\bfrom |^import |\bimport\()['"]((?:@[\w.-]+\/)?\w[\w.:-]*)[^'"\n]*['"]/gm

type Manifest = Record<(typeof KEPT)[number], unknown> & { dependencies: Record<string, string> }

/** Returns the path of the tarball, which is in this folder. */
export function pack(folder: string): string {
  const stage = join(folder, 'package')
  rmSync(stage, { recursive: true, force: true })
  mkdirSync(stage, { recursive: true })
  run('tsc', ['-p', join(import.meta.dirname, 'tsconfig.json'), '--outDir', stage], ROOT)
  for (const path of COPIED) cpSync(join(ROOT, path), join(stage, path), { recursive: true })
  const program = join(stage, 'bin/offerdeck.js')
  writeFileSync(program, readFileSync(program, 'utf8').replace('src/cli/main.ts', 'src/cli/main.js'))
  writeFileSync(join(stage, 'package.json'), JSON.stringify(manifestOf(stage), null, 2))
  return join(folder, run('npm', ['pack', '--silent', '--pack-destination', folder], stage).trim())
}

function manifestOf(stage: string): object {
  const manifest = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as Manifest
  const imported = importedBy(stage)
  const dependencies = Object.entries(manifest.dependencies).filter(([name]) => imported.delete(name))
  if (imported.size > 0) throw new Error(`The program imports what is no dependency: ${[...imported].join(', ')}`)
  return {
    ...Object.fromEntries(KEPT.map((key) => [key, manifest[key]])),
    dependencies: Object.fromEntries(dependencies),
  }
}

/** The packages that the program imports, besides those of Node. */
function importedBy(stage: string): Set<string> {
  const names = globSync('src/**/*.js', { cwd: stage }).flatMap((path) =>
    [...readFileSync(join(stage, path), 'utf8').matchAll(IMPORTED)].map(([, name = '']) => name),
  )
  return new Set(names.filter((name) => !name.startsWith('node:') && !builtinModules.includes(name)))
}

function run(command: string, args: string[], cwd: string): string {
  const { status, stdout, stderr } = spawnSync(command, args, { cwd, encoding: 'utf8' })
  if (status !== 0) throw new Error(`${command} ${args.join(' ')} failed.\n${stdout}${stderr}`)
  return stdout
}
