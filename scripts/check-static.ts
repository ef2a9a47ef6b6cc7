// The checks that are no tests; prints the output of each that fails, and fails with it.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { availableParallelism } from 'node:os'
import { text } from 'node:stream/consumers'

// Two at a time, each on half of the cores. More would wait for each other, and hold their memory meanwhile.
const AT_ONCE = 2
const THREADS = Math.max(1, Math.floor(availableParallelism() / AT_ONCE))
// Each checker finds out again what the others know: with four, which is the default, on two cores it was twice the work.
const tsc = `tsc --noEmit --checkers ${Math.min(THREADS, 4)}`
// The compiler and the type-aware linter are Go programs that keep nearly all that they allocate: by default they spent
// much of their time looking for garbage. The linter has as many checkers as it may use cores.
const env = { ...process.env, GOMAXPROCS: String(THREADS), GOGC: '400' }

// The longest first.
const CHECKS = [
  'oxlint --deny-warnings',
  tsc,
  `${tsc} -p web`,
  'npm run --silent check:openapi',
  'node scripts/generate.ts --check',
  'oxfmt --check .',
  `${tsc} -p examples/wall`,
  `${tsc} -p client`,
  'node scripts/check-dependencies.ts',
]

const started = performance.now()
const waiting = CHECKS.values() // shared: each takes the next one
await Promise.all(
  Array.from({ length: AT_ONCE }, async () => {
    for (const command of waiting) if (await fails(command)) process.exitCode = 1
  }),
)

async function fails(command: string): Promise<boolean> {
  const child = spawn('sh', ['-c', `exec 2>&1; ${command}`], { stdio: ['ignore', 'pipe', 'inherit'], env })
  const [output, [status]] = await Promise.all([text(child.stdout), once(child, 'close') as Promise<[number | null]>])
  const seconds = ((performance.now() - started) / 1_000).toFixed(0)
  console.log(status === 0 ? `✔ ${command} (${seconds} s)` : `✖ ${command}\n${output}`)
  return status !== 0
}
