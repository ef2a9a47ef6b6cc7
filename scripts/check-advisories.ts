// npm run check:advisories -- <folder>: whether a locked package has a known vulnerability, without a network. The folder
// holds advisories in OSV format, a JSON file each: the archive for npm of osv.dev, unpacked.
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Advisory, findAffected } from './advisories.ts'

type Lock = { packages: Record<string, { version: string; dev?: boolean }> }

const [, , folder] = process.argv
const files = folder === undefined ? [] : globSync('**/*.json', { cwd: folder })
if (folder === undefined || files.length === 0) {
  console.error('Name a folder with advisories in OSV format: npm run check:advisories -- <folder>')
  process.exit(2)
}
const { packages } = JSON.parse(readFileSync(new URL('../package-lock.json', import.meta.url), 'utf8')) as Lock
const installed = Object.entries(packages)
  .filter(([path, { dev = false }]) => path !== '' && !dev)
  .map(([path, { version }]) => ({ name: path.replace(/^.*node_modules\//, ''), version }))
let found = 0
for (const file of files) {
  const advisory = JSON.parse(readFileSync(join(folder, file), 'utf8')) as Advisory
  for (const { name, version } of findAffected(installed, advisory)) {
    found++
    console.error(`${name}@${version}: ${advisory.id} ${advisory.summary ?? ''}`)
  }
}
console.log(`${files.length} advisories, ${installed.length} packages, ${found} affected`)
if (found > 0) process.exitCode = 1
