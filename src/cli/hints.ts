// Which command helps after a failure. Features say what is wrong, and know no commands.
import { NoSuch, type Noun } from '../errors.ts'
import { hint } from './usage.ts'

export const hintFor = (error: unknown): string | null => (error instanceof NoSuch ? hintForNoun(error.noun) : null)

function hintForNoun(noun: Noun): string {
  if (noun === 'replay') return `Start one with: ${hint('postback replay --app APP')}`
  if (noun === 'payment or adjustment') return `List them with: ${hint('ledger list')}`
  return `List ${noun}s with: ${hint(`${noun === 'payment run' ? 'ledger run' : noun} list`)}`
}
