// npm run release -- patch|minor|major|1.2.3: gives the changelog and the package their version, packs the tarball into
// release/, commits and tags. Nothing leaves this machine: what to push and publish is printed.
import { execFileSync } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { releaseChangelog } from './changelog.ts'
import { packClient } from './pack-client.ts'
import { pack } from './pack.ts'

const ROOT = join(import.meta.dirname, '../..')
const run = (command: string, ...args: string[]) => execFileSync(command, args, { cwd: ROOT, encoding: 'utf8' }).trim()

const [wanted] = process.argv.slice(2)
if (wanted === undefined || !/^(patch|minor|major|\d+\.\d+\.\d+)$/.test(wanted))
  throw new Error('Say which version: npm run release -- patch, minor, major or a number such as 1.2.3.')
if (run('git', 'status', '--porcelain') !== '') throw new Error('Commit or stash your changes first.')

const version = run('npm', 'version', wanted, '--no-git-tag-version').replace(/^v/, '')
const changelog = join(ROOT, 'CHANGELOG.md')
const today = new Date().toISOString().slice(0, 10)
writeFileSync(changelog, releaseChangelog(readFileSync(changelog, 'utf8'), version, today))
run('npm', 'run', 'build')
const folder = join(ROOT, 'release')
mkdirSync(folder, { recursive: true })
const [program, client] = [pack(folder), packClient(folder)].map((tarball) => relative(ROOT, tarball))
run('git', 'commit', '--all', '--message', `Release ${version}`)
run('git', 'tag', `v${version}`)
console.log(`Packed ${program} and ${client}, committed, and tagged v${version}. Next:
  git push --follow-tags
  npm publish ${program}
  npm publish --access public ${client}`)
