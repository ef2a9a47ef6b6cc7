// Examples in four languages that judge the test vectors of their folder.
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const COMMANDS: Record<string, readonly [program: string, ...args: string[]]> = {
  'node.mjs': [process.execPath],
  'python.py': ['python3'],
  'php.php': ['php'],
  'go.go': ['go', 'run'],
}

export const EXAMPLE_FILES = Object.keys(COMMANDS)

export const folderOf = (name: string) => new URL(`../examples/${name}/`, import.meta.url)
export const readVectors = (folder: URL) => readFileSync(new URL('vectors.json', folder), 'utf8')

/** It passes every vector, in their order. */
export function assertPasses(folder: URL, file: string, vectors: readonly { name: string }[]): void {
  const [program = '', ...args] = COMMANDS[file] ?? []
  const cwd = fileURLToPath(folder)
  const run = spawnSync(program, [...args, file], { cwd, input: readVectors(folder), encoding: 'utf8' })
  assert.equal(run.status, 0, run.stdout + run.stderr)
  assert.deepEqual(
    run.stdout.trimEnd().split(/\r?\n/),
    vectors.map(({ name }) => `pass  ${name}`),
  )
}
