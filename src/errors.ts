/** Every error a publisher can see, and the status it travels with. */
export const ERRORS = {
  INVALID_API_KEY: 401,
  INVALID_API_SECRET: 401,
  RATE_LIMIT_EXCEEDED: 429,
  INVALID_REQUEST: 400,
  RESOURCE_NOT_FOUND: 404,
  SERVER_ERROR: 500,
} as const

/** Those of the management API, which are for people: v1 has only the ones above. */
export const MANAGE_ERRORS = {
  ...ERRORS,
  NOT_SIGNED_IN: 401,
  NOT_ALLOWED: 403,
  PROOF_REQUIRED: 403,
  SECOND_FACTOR_REQUIRED: 403,
  CONFLICT: 409,
} as const

export type ErrorCode = keyof typeof MANAGE_ERRORS

/** What is wrong, by parameter, each a sentence. */
export type Details = Record<string, string>

/** An error meant for the caller. Any other error is a bug, and is not shown. */
export class AppError extends Error {
  readonly code: ErrorCode
  readonly details: Details | null

  constructor(code: ErrorCode, message: string, details: Details | null = null) {
    super(message)
    this.name = 'AppError'
    this.code = code
    this.details = details
  }
}

export const badRequest = (details: Details) =>
  new AppError('INVALID_REQUEST', 'Some parameters are missing or invalid.', details)

/**
 * Something the operator can put right, said as a sentence: shown without a stack on the command line. `field`: what it
 * is about, for a form.
 */
export class OperatorError extends Error {
  override readonly name = 'OperatorError'
  readonly field: string | null

  constructor(message: string, field: string | null = null) {
    super(message)
    this.field = field
  }
}

/** What is wrong with one field of what was given. `field` is its name in the management API. */
export type Problem = { field: string; message: string }

/** By field; several problems of one field are one text. */
export function detailsOf(problems: readonly Problem[]): Details {
  const details: Details = {}
  for (const { field, message } of problems)
    details[field] = Object.hasOwn(details, field) ? `${details[field]} ${message}` : message
  return details
}

/** Everything that is wrong with what the operator gave, at once. */
export class InvalidInput extends OperatorError {
  readonly problems: readonly Problem[]

  constructor(problems: readonly Problem[]) {
    super(problems.map(({ message }) => message).join('\n'))
    this.problems = problems
  }
}

/** What can be looked for by its ID or name. */
export type Noun =
  | 'app'
  | 'offer'
  | 'publisher'
  | 'advertiser'
  | 'click'
  | 'conversion'
  | 'locker'
  | 'feed'
  | 'payment run'
  | 'payment or adjustment'
  | 'replay'

/** Who looked for it adds where such things are listed: on the command line, a command. */
export class NoSuch extends OperatorError {
  readonly noun: Noun
  /** An ID, or a name. */
  readonly which: number | string

  constructor(noun: Noun, which: number | string) {
    super(`There is no ${noun} ${typeof which === 'number' ? which : `"${which}"`}.`)
    this.noun = noun
    this.which = which
  }
}

/** What the command line adds a command to. */
export const OLD_KEY_MISSING =
  'SECRET_KEY_OLD is missing: some of what this database holds was made with it. Set it to the key before, until nothing ' +
  'needs it any more.'

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

/** For a list that is asked to go on from somewhere it never was. */
export const badCursor = (name: string) =>
  new AppError('INVALID_REQUEST', 'Some parameters are missing or invalid.', {
    [name]: `${name} must be the next_cursor of an earlier response.`,
  })

export function cannotRead(file: string, error: unknown): OperatorError {
  if ((error as NodeJS.ErrnoException).code === 'ENOENT') return new OperatorError(`There is no file ${file}.`)
  return new OperatorError(`Cannot read ${file}: ${messageOf(error)}`)
}
