// How commands speak about commands.
import { InvalidInput, OperatorError, type Problem } from '../errors.ts'

/** The command was called wrongly: it did nothing, and ends with status 2. */
export class UsageError extends OperatorError {}

export const USAGE_STATUS = 2

/** What a feature finds wrong with fields that came from options, said by the option: `options` has them by field. */
export async function byOption<T>(options: Readonly<Record<string, string>>, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    const problems = problemsOf(error).map(({ field, message }) => ({ option: options[field.split('.')[0] ?? ''], message })) // prettier-ignore
    if (problems.length === 0 || problems.some(({ option }) => option === undefined)) throw error
    throw new UsageError(problems.map(({ option, message }) => `${option}: ${message}`).join('\n'))
  }
}

function problemsOf(error: unknown): readonly Problem[] {
  if (error instanceof InvalidInput) return error.problems
  return error instanceof OperatorError && error.field !== null ? [{ field: error.field, message: error.message }] : []
}

/** A command to run next, as it works in the folder of an installation. */
export const hint = (command: string) => `npx offerdeck ${command}`
