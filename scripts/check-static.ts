// The checks that are no tests, all at once; prints the output of each that fails, and fails with it.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'

const CHECKS = [
  'tsc --noEmit',
  'tsc --noEmit -p web',
  'tsc --noEmit -p examples/wall',
  'tsc --noEmit -p client',
  'oxlint --deny-warnings',
  'oxfmt --check .',
  'node scripts/check-dependencies.ts',
  'node scripts/generate.ts --check',
  'npm run --silent check:openapi',
]

const started = performance.now()
const failed = await Promise.all(CHECKS.map(fails))
if (failed.includes(true)) process.exitCode = 1

async function fails(command: string): Promise<boolean> {
  const child = spawn('sh', ['-c', `exec 2>&1; ${command}`], { stdio: ['ignore', 'pipe', 'inherit'] })
  const [output, [status]] = await Promise.all([text(child.stdout), once(child, 'close') as Promise<[number | null]>])
  const seconds = ((performance.now() - started) / 1_000).toFixed(0)
  console.log(status === 0 ? `✔ ${command} (${seconds} s)` : `✖ ${command}\n${output}`)
  return status !== 0
}
