// Prints each test in a line as it ends, and sends the pool its outcome.
import { inspect } from 'node:util'
import type { TestEvent } from 'node:test/reporters'
import type { FromWorker } from './worker.ts'

const send = (message: FromWorker) => process.send?.(message)

export default async function* report(events: AsyncIterable<TestEvent>): AsyncGenerator<string> {
  for await (const event of events) {
    if (event.type === 'test:diagnostic' && event.data.nesting > 0) yield `ℹ ${event.data.message}\n`
    if (event.type !== 'test:pass' && event.type !== 'test:fail') continue
    const { name, details, file = '' } = event.data
    const isSuite = details.type === 'suite'
    const took = `(${details.duration_ms.toFixed(0)} ms)\n`
    if (event.type === 'test:pass' && !isSuite) {
      send({ kind: 'passed' })
      yield `✔ ${name} ${took}`
    }
    if (event.type === 'test:fail') {
      const error = event.data.details.error as Error & { failureType?: string }
      if (error.failureType !== 'subtestsFailed') {
        send({ kind: 'failed', failure: { file, name, error: inspect(error.cause ?? error) } })
        yield `✖ ${name} ${took}`
      }
    }
    // Last: the pool may end this process then. A file that could not be loaded is a suite that failed.
    if (isSuite && event.data.nesting === 0) send({ kind: 'reported' })
  }
}
