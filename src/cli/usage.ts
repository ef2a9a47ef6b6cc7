// How commands speak about commands.
import { OperatorError } from '../errors.ts'

/** The command was called wrongly: it did nothing, and ends with status 2. */
export class UsageError extends OperatorError {}

export const USAGE_STATUS = 2

/** A command to run next, as it works in the folder of an installation. */
export const hint = (command: string) => `npx offerdeck ${command}`
