// What test files get for node:test in the processes of the pool (worker.ts): tests and hooks, in the same order. node:test
// follows each promise and connection (async hooks) to know which test it belongs to, which took a tenth of the whole
// time, and here tests run one after the other anyway.
import { mock } from 'node:test'
import { inspect } from 'node:util'
import type { Failure } from './worker.ts'

export { mock }

type Work = () => unknown
export type TestContext = {
  name: string
  /** Runs when the test is over. */
  after: (work: Work) => void
  diagnostic: (message: string) => void
  /** What it replaces is put back after the test. */
  mock: typeof mock
}
type Test = { name: string; run: (context: TestContext) => unknown }

const emptyFile = () => ({
  tests: [] as Test[],
  before: [] as Work[],
  after: [] as Work[],
  beforeEach: [] as Work[],
  afterEach: [] as Work[],
})
let file = emptyFile()
/** What the running test leaves for its end. */
let left: Work[] | null = null
/** Ends what is running with an error that it did not await. */
let fail: ((reason: unknown) => void) | null = null

for (const event of ['uncaughtException', 'unhandledRejection'])
  process.on(event, (reason) => {
    if (fail !== null) return fail(reason)
    console.error(reason)
    process.exit(1) // the pool says which file it was
  })

export const test = (name: string, run: Test['run']): void => void file.tests.push({ name, run })
export const before = (work: Work): void => void file.before.push(work)
/** After the file, or after the test that calls it. */
export const after = (work: Work): void => void (left ?? file.after).push(work)
export const beforeEach = (work: Work): void => void file.beforeEach.push(work)
export const afterEach = (work: Work): void => void file.afterEach.push(work)

export type Report = { passed: () => void; failed: (failure: Failure) => void }

/** Imports a file and runs its tests one after the other, each in a line as it ends. */
export async function runTests(path: string, timeoutMs: number, { passed, failed }: Report): Promise<void> {
  file = emptyFile()
  const succeeds = async (name: string, work: () => Promise<unknown>): Promise<boolean> => {
    const failure = await findFailure(work, timeoutMs)
    if (failure === null) return true
    console.log(`✖ ${name}`)
    failed({ file: path, name, error: inspect(failure.reason) })
    return false
  }
  if (!(await succeeds('the file is loaded', () => import(path)))) return
  if (await succeeds('what comes before the tests', () => inTurn(file.before)))
    for (const one of file.tests) {
      const startedMs = performance.now()
      if (!(await succeeds(one.name, () => runTest(one)))) continue
      console.log(`✔ ${one.name} (${(performance.now() - startedMs).toFixed(0)} ms)`)
      passed()
    }
  await succeeds('what comes after the tests', () => inTurn(file.after))
}

async function runTest({ name, run }: Test): Promise<void> {
  const mine: Work[] = []
  left = mine
  try {
    await inTurn(file.beforeEach)
    await run({ name, after, diagnostic: (message) => console.log(`ℹ ${message}`), mock })
  } finally {
    left = null
    mock.reset()
    await inTurn([...file.afterEach, ...mine])
  }
}

async function inTurn(all: readonly Work[]): Promise<void> {
  for (const work of all) await work()
}

/** What went wrong, if anything: also where it was not awaited, and what does not end. */
async function findFailure(work: () => Promise<unknown>, timeoutMs: number): Promise<{ reason: unknown } | null> {
  let timer: NodeJS.Timeout | undefined
  const ended = new Promise<{ reason: unknown }>((resolve) => {
    fail = (reason) => resolve({ reason })
    timer = setTimeout(() => resolve({ reason: `It did not end within ${timeoutMs} ms.` }), timeoutMs)
  })
  const done = work().then(
    () => null,
    (reason: unknown) => ({ reason }),
  )
  const failure = await Promise.race([done, ended])
  clearTimeout(timer)
  fail = null
  return failure
}
