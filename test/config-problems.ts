// What is wrong with an environment, as the operator reads it.
import assert from 'node:assert/strict'
import { loadConfig } from '../src/config.ts'
import { OperatorError } from '../src/errors.ts'

/** What the one message says, a problem a line; fails when the environment is accepted. */
export function problemsOf(env: NodeJS.ProcessEnv): string[] {
  try {
    loadConfig(env)
  } catch (error) {
    assert.ok(error instanceof OperatorError, `${String(error)} is not meant for an operator`)
    const [title = '', ...lines] = error.message.split('\n')
    assert.equal(
      title,
      `The configuration has ${lines.length === 1 ? 'a problem' : `${lines.length} problems`}:`,
      error.message,
    )
    return lines.map((line) => line.replace(/^ {2}- /, ''))
  }
  throw new assert.AssertionError({ message: `${JSON.stringify(env)} was accepted` })
}

export function refuses(env: NodeJS.ProcessEnv, problem: RegExp): void {
  const problems = problemsOf(env)
  assert.equal(problems.length, 1, problems.join('\n'))
  assert.match(problems[0] ?? '', problem)
}
