// Packs the client: npm run pack:client. Its version is that of the program whose API it has types for.
import { cpSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { ROOT, run } from './pack.ts'

const read = (path: string) => JSON.parse(readFileSync(join(ROOT, path), 'utf8')) as Record<string, unknown>

/** Returns the path of the tarball, which is in this folder. */
export function packClient(folder: string): string {
  const stage = join(folder, 'client')
  rmSync(stage, { recursive: true, force: true })
  mkdirSync(stage, { recursive: true })
  run(join(ROOT, 'node_modules/.bin/tsc'), ['-p', 'client', '--outDir', join(stage, 'dist')], ROOT)
  // The compiler leaves these imports as they are in the sources.
  for (const file of globSync(join(stage, 'dist/*.d.ts')))
    writeFileSync(file, readFileSync(file, 'utf8').replaceAll(/(from '\.\/[\w-]+)\.ts'/g, "$1.js'"))
  cpSync(join(ROOT, 'web/sdk/v1.d.ts'), join(stage, 'dist/sdk.d.ts')) // for pages beside the publisher's server
  cpSync(join(ROOT, 'client/README.md'), join(stage, 'README.md'))
  cpSync(join(ROOT, 'LICENSE'), join(stage, 'LICENSE'))
  const { version } = read('package.json')
  writeFileSync(join(stage, 'package.json'), JSON.stringify({ ...read('client/package.json'), version }, null, 2))
  return join(folder, run('npm', ['pack', '--silent', '--pack-destination', folder], stage).trim())
}

if (import.meta.main) {
  const folder = join(ROOT, 'release')
  mkdirSync(folder, { recursive: true })
  console.log(packClient(folder))
}
