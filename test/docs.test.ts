// What the documentation names exists: files, links and their anchors, npm scripts, commands with their options, settings.
// A claim that is not true fails by its file and line.
import assert from 'node:assert/strict'
import { existsSync, globSync, readFileSync } from 'node:fs'
import { basename, dirname, join, relative } from 'node:path'
import { test } from 'node:test'
import type { Command } from 'commander'
import { COMMANDS, loadCommand } from '../src/cli/run.ts'
import { MANAGE_ERRORS } from '../src/errors.ts'
import { USUAL_STATUSES } from '../src/features/conversions/inbound/status-words.ts'
import { FIELD_NAMES } from '../src/features/offers/fields.ts'
import { SENTENCES } from '../src/features/offers/visibility.ts'
import { SETTINGS } from '../src/settings.ts'

const ROOT = join(import.meta.dirname, '..')
const PAGES = globSync(['*.md', 'docs/*.md', 'bench/*.md', 'client/*.md', '.github/**/*.md'], { cwd: ROOT }).toSorted()
// They describe what was, not what is.
const HISTORY = 'CHANGELOG.md'

type Claim = { page: string; line: number; text: string }

const read = (path: string) => readFileSync(join(ROOT, path), 'utf8')
const at = ({ page, line }: Claim) => `${page}:${line}`

/** Every piece of code on the page: what stands between backticks, and the lines of shell blocks. */
function codeOf(page: string): Claim[] {
  const found: Claim[] = []
  let block: string | null = null
  let continued = ''
  for (const [i, text] of read(page).split('\n').entries()) {
    const fence = /^\s*```(\w*)/.exec(text)
    if (fence !== null) {
      block = block === null ? (fence[1] ?? '') : null
      continue
    }
    const line = i + 1
    if (block === null) for (const [, code = ''] of text.matchAll(/`([^`]+)`/g)) found.push({ page, line, text: code })
    if (block !== 'sh') continue
    continued += text.replace(/\\$/, ' ')
    if (text.endsWith('\\')) continue
    for (const part of continued.replace(/\s#\s.*$/, '').split(/&&|;|\|(?!\w)/))
      found.push({ page, line, text: part.trim() })
    continued = ''
  }
  return found
}

const CODE = PAGES.filter((page) => page !== HISTORY).flatMap(codeOf)

function report(problems: string[]): void {
  assert.deepEqual(problems, [], `\n${problems.join('\n')}\n`)
}

const { scripts, dependencies } = JSON.parse(read('package.json')) as Record<
  'scripts' | 'dependencies',
  Record<string, string>
>

// Links

/** As the common hosts make them. */
const anchorOf = (heading: string) =>
  heading
    .replaceAll(/[`*]|\[([^\]]*)\]\([^)]*\)/g, '$1')
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
    .replaceAll(' ', '-')

const anchorsOf = (page: string) => [...read(page).matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) => anchorOf(heading))

test('links between pages lead to a file, and to a heading of it', () => {
  const problems: string[] = []
  for (const page of PAGES)
    for (const [i, text] of read(page).split('\n').entries())
      for (const [, target = ''] of text.matchAll(/\]\(([^)\s]+)\)/g)) {
        if (/^[a-z]+:/.test(target)) continue
        const [path = '', anchor] = target.split('#')
        const file = path === '' ? page : relative(ROOT, join(ROOT, dirname(page), path))
        if (!existsSync(join(ROOT, file))) problems.push(`${page}:${i + 1}: there is no file ${file}`)
        else if (anchor !== undefined && !anchorsOf(file).includes(anchor))
          problems.push(`${page}:${i + 1}: ${file} has no heading #${anchor}`)
      }
  report(problems)
})

// Files

const FILES = globSync(['{src,test,web,bench,scripts,client}/**/*', '*'], { cwd: ROOT, exclude: (path) => path.includes('node_modules') || path.includes('web/dist') }) // prettier-ignore
const NAMES = new Set(FILES.map((path) => basename(path)))
/** Pages name a file from the top, or from where everything is. */
const FROM = ['', 'src', 'src/features', 'web/dashboard/src']
const FOLDERS = /^(src|test|docs|bin|scripts|web|migrations|examples|bench|client|\.ci|\.github)\//
const CODE_FILE = /^[\w./-]+\.(ts|tsx|sql|mjs|js)$/

test('files and folders that are named exist', () => {
  const problems: string[] = []
  for (const claim of CODE) {
    for (const path of claim.text.split(/[\s,;:]+/)) {
      if (!FOLDERS.test(path) && !CODE_FILE.test(path)) continue
      if (/[<>{}…]/.test(path)) continue // stands for many
      if (path in dependencies) continue // ipaddr.js is a package
      const places = [...FROM, dirname(claim.page)]
      const exists = places.some((from) => globSync(join(from, path), { cwd: ROOT }).length > 0)
      if (!exists && !(CODE_FILE.test(path) && !path.includes('/') && NAMES.has(path)))
        problems.push(`${at(claim)}: there is no file ${path}`)
    }
  }
  report(problems)
})

test('the README of the client shows its examples as they are', () => {
  const examples = globSync('examples/client/**/*.mjs', { cwd: ROOT })
  assert.ok(examples.length > 0)
  const problems = examples.filter((file) => !read('client/README.md').includes(`\`\`\`js\n${read(file)}\`\`\`\n`))
  report(problems.map((file) => `client/README.md shows another text than ${file}`))
})

// Commands

test('npm scripts that are named exist', () => {
  const problems: string[] = []
  for (const claim of CODE)
    for (const [, run, plain] of claim.text.matchAll(
      /(?:^|\s)npm (?:run (?:-\w+ |--silent )?([\w:]+)|(test|start)\b)/g,
    )) {
      const name = run ?? plain ?? ''
      if (scripts[name] === undefined) problems.push(`${at(claim)}: there is no script "npm run ${name}"`)
    }
  report(problems)
})

/** The words of a command line, quotes taken into account. */
const wordsOf = (line: string) => line.match(/"[^"]*"|'[^']*'|[^\s]+/g) ?? []

/** What is wrong with a command as it is written, or null. `a|b` stands for both. */
function problemWith(command: Command, words: readonly string[]): string | null {
  const [word, ...rest] = words
  if (word === undefined) return null
  if (word.startsWith('--')) {
    const name = word.replace(/[=\]].*$/, '')
    const known = ['--help', '--version', ...(command.commands.length === 0 ? ['--json'] : [])]
    const exists = known.includes(name) || command.options.some((option) => option.long === name)
    return exists ? problemWith(command, rest) : `"${pathOf(command)}" has no option ${name}`
  }
  if (command.commands.length === 0) return problemWith(command, rest) // an argument
  if (!/^[a-z-]+(\|[a-z-]+)*[.,:]?$/.test(word)) return null // prose goes on
  for (const name of word.replace(/[.,:]$/, '').split('|')) {
    const child = command.commands.find((one) => one.name() === name)
    const problem = child === undefined ? `"${pathOf(command)}" has no command "${name}"` : problemWith(child, rest)
    if (problem !== null) return problem
  }
  return null
}

const pathOf = (command: Command): string =>
  command.parent === null ? command.name() : `${pathOf(command.parent)} ${command.name()}`

test('commands that are named exist, with their options', async () => {
  const { Command } = await import('commander')
  const program = new Command('offerdeck')
  for (const name of Object.keys(COMMANDS)) program.addCommand(await loadCommand(name))
  const problems: string[] = []
  for (const claim of CODE) {
    const [, line] = /^(?:[A-Z_0-9]+=\S+ )*(?:npx )?offerdeck (.+)$/.exec(claim.text) ?? []
    if (line === undefined) continue
    const problem = problemWith(program, wordsOf(line))
    if (problem !== null) problems.push(`${at(claim)}: ${problem}`)
  }
  report(problems)
})

// Words

const wordsIn = (line: string) => [...line.matchAll(/`([^`]+)`/g)].map(([, word = '']) => word)

/** The rows of the first table that follows `heading`. */
function rowsAfter(page: string, heading: string): string[] {
  const [, rows = ''] =
    read(page)
      .split(heading)[1]
      ?.split(/\n\|-[-|]*\|\n/) ?? []
  return (rows.split('\n\n')[0] ?? '').split('\n')
}

/** The words between backticks in each row of it, by the first word. */
const tableAfter = (page: string, heading: string): string[][] => rowsAfter(page, heading).map(wordsIn)

test('the reasons why a user does not see an offer are listed', () => {
  assert.deepEqual(tableAfter('docs/api.md', '| reason | the user').flat(), Object.keys(SENTENCES))
})

test('the words that advertisers may send as a status are listed', () => {
  const shown = tableAfter('docs/advertisers.md', '### Status words').flatMap(([status = '', ...words]) =>
    words.map((word) => `${word}: ${status}`),
  )
  const known = [...USUAL_STATUSES].filter(([word]) => word !== '').map(([word, status]) => `${word}: ${status}`)
  assert.deepEqual(shown.toSorted(), known.toSorted())
})

test('the fields of an import are listed', () => {
  const names = rowsAfter('docs/api.md', '## Importing offers').flatMap((row) => wordsIn(row.split('|')[1] ?? ''))
  assert.deepEqual(names.toSorted(), FIELD_NAMES.toSorted())
})

// Settings

const SETTING_NAMES = new Set(SETTINGS.map(({ name }) => name))
/** Names in capitals that are no settings of ours; besides, APP_ID and the like stand for an id. */
const OTHERS = new Set([...Object.keys(MANAGE_ERRORS), 'CONNECTION_FAILED', 'UNEXPECTED_RESPONSE', 'NODE_ENV', 'NODE_EXTRA_CA_CERTS', 'NODE_OPTIONS', 'RAW_URI', 'REQUEST_URI', 'SIGNING_SECRET']) // prettier-ignore

test('settings that are named exist', () => {
  const problems: string[] = []
  for (const claim of CODE)
    for (const [name] of claim.text.matchAll(/(?<![\w$-])[A-Z][A-Z0-9]*_[A-Z0-9_]+\b(?!\()/g))
      if (!SETTING_NAMES.has(name) && !OTHERS.has(name) && !name.endsWith('_ID'))
        problems.push(`${at(claim)}: there is no setting ${name}`)
  report(problems)
})
