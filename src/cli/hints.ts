// Which command helps after a failure. Features say what is wrong, and know no commands.
import { NoSuch, type Noun, OLD_KEY_MISSING, OperatorError } from '../errors.ts'
import { hint } from './usage.ts'

export function hintFor(error: unknown): string | null {
  if (error instanceof NoSuch) return hintForNoun(error.noun)
  return error instanceof OperatorError && error.message.endsWith(OLD_KEY_MISSING) ? RESEAL : null
}

/** What to do once SECRET_KEY_OLD is set. */
export const RESEAL = `Then run: ${hint('secret-key rotate')}`

function hintForNoun(noun: Noun): string {
  if (noun === 'replay') return `Start one with: ${hint('postback replay --app APP')}`
  if (noun === 'payment or adjustment') return `List them with: ${hint('ledger list')}`
  return `List ${noun}s with: ${hint(`${noun === 'payment run' ? 'ledger run' : noun} list`)}`
}
