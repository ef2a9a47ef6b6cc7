// Undoes each mend of scripts/mends.ts in a copy of this repository, and expects its test to fail: a check of the tests,
// not of the program. It takes about half a minute a mend, and is run by hand:
//
//   node scripts/undo-mends.ts                 all of them
//   node scripts/undo-mends.ts hold reversal   those whose description holds one of these words
//   node scripts/undo-mends.ts --times 3       each so often
import { execFileSync, spawnSync } from 'node:child_process'
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { parseArgs } from 'node:util'
import { globalSetup, globalTeardown } from '../test/setup.ts'
import { type Mend, MENDS } from './mends.ts'

const here = dirname(import.meta.dirname)
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { times: { type: 'string', default: '1' } },
})
const chosen = MENDS.filter(
  ({ without }) => positionals.length === 0 || positionals.some((word) => without.includes(word)),
)

const copy = copyRepository()
await globalSetup()
let missed = 0
try {
  for (const mend of chosen) {
    const results = Array.from({ length: Number(values.times) }, () => undo(mend))
    missed += results.filter((found) => found.length === 0).length
    console.log(`${results.every((found) => found.length > 0) ? 'found ' : 'MISSED'} ${mend.without}`)
    for (const found of results) console.log(`         ${found.join('; ') || 'nothing failed'}`)
  }
} finally {
  await globalTeardown()
  rmSync(copy, { recursive: true, force: true })
}
console.log(missed === 0 ? 'Every mend that was undone was noticed.' : `${missed} were not found.`)
process.exitCode = missed === 0 ? 0 : 1

/** The files as they are now, whether committed or not; packages are shared. */
function copyRepository(): string {
  const folder = mkdtempSync(join(tmpdir(), 'undo-mends-'))
  const list = execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], { cwd: here })
  for (const file of list.toString().split('\0').filter(Boolean)) cpSync(join(here, file), join(folder, file))
  symlinkSync(join(here, 'node_modules'), join(folder, 'node_modules'))
  // A failure is enough: its smallest example is not needed.
  writeFileSync(join(folder, 'no-shrinking.ts'), "import fc from 'fast-check'\nfc.configureGlobal({ endOnFailure: true })\n") // prettier-ignore
  return folder
}

/** What failed without the mend. */
function undo({ file, now, undone, test }: Mend): string[] {
  const path = join(copy, file)
  const text = readFileSync(path, 'utf8')
  if (text.split(now).length !== 2) throw new Error(`${file} does not hold this exactly once: ${now}`)
  writeFileSync(
    path,
    text.replace(now, () => undone),
  )
  const { stdout, status } = spawnSync(
    process.execPath,
    ['--test', '--import', './no-shrinking.ts', '--test-global-setup=test/setup.ts', '--test-force-exit', '--test-reporter=spec', test],
    { cwd: copy, encoding: 'utf8', env: { ...process.env, OFFERDECK_TESTS: 'short' } },
  ) // prettier-ignore
  writeFileSync(path, text)
  return status === 0 ? [] : failuresOf(stdout)
}

/** Each test that failed, with the number of runs that it took. */
function failuresOf(output: string): string[] {
  const details = output.slice(output.indexOf('failing tests:'))
  const pieces = details.split(/^✖ /m).slice(1)
  return pieces.map((piece) => {
    const name = piece.split('\n', 1)[0]?.replace(/ \(\d.*$/, '')
    const runs = /Property failed after (\d+) tests/.exec(piece)?.[1]
    return runs === undefined ? `${name}: ${piece.split('\n')[1]?.trim()}` : `${name}: after ${runs} runs`
  })
}
