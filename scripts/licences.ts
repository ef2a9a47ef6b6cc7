// The licences of the packages that are within a bundle: most of them ask to be passed on with it.
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Plugin } from 'vite'

type Manifest = { name?: string; version?: string; license?: string }

export const licences = (fileName: string): Plugin => ({
  name: 'licences',
  generateBundle(_options, bundle) {
    const modules = Object.values(bundle).flatMap((file) => (file.type === 'chunk' ? file.moduleIds : []))
    const folders = new Set(modules.filter((path) => path.includes('node_modules')).map(packageOf))
    const source = [...folders]
      .toSorted()
      .map(describe)
      .join(`\n${'-'.repeat(80)}\n\n`)
    this.emitFile({ type: 'asset', fileName, source })
  },
})

/** The folder of the package that a file belongs to: the nearest with a manifest that has a name and a version. */
function packageOf(path: string): string {
  const folder = dirname(path.replace(/^\0/, ''))
  const { name, version } = readManifest(folder)
  return name !== undefined && version !== undefined ? folder : packageOf(folder)
}

function describe(folder: string): string {
  const { name, version, license } = readManifest(folder)
  const file = readdirSync(folder).find((one) => /^licen[cs]e/i.test(one))
  const text = file === undefined ? '' : `\n${readFileSync(join(folder, file), 'utf8').trim()}\n`
  return `${name} ${version} (${license})\n${text}`
}

function readManifest(folder: string): Manifest {
  const path = join(folder, 'package.json')
  return existsSync(path) ? (JSON.parse(readFileSync(path, 'utf8')) as Manifest) : {}
}
