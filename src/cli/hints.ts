// Which command helps after a failure. Features say what is wrong, and know no commands.
import { NoSuch } from '../errors.ts'
import { hint } from './usage.ts'

export function hintFor(error: unknown): string | null {
  return error instanceof NoSuch ? `List ${error.noun}s with: ${hint(`${error.noun} list`)}` : null
}
