import type { FastifyBaseLogger } from 'fastify'
import { pino } from 'pino'
import { isRowError } from '../db/pg-errors.ts'
import type { LogLevel } from '../settings.ts'
import { terminal } from './terminal.ts'

/**
 * Logs as JSON lines on the standard error. Nothing that is logged should hold a secret; whatever looks like one is
 * masked all the same, last of all, in the finished line.
 */
export function createLog(
  level: LogLevel,
  destination: { write(line: string): void } = terminal().err,
): FastifyBaseLogger {
  return pino(
    {
      level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      serializers: { err: describeError },
      hooks: { streamWrite: maskSecrets },
    },
    destination,
  )
}

/** PostgreSQL adds the row that it refuses, which may be about a user: the log has no users. */
function describeError(error: Error): object {
  const described = pino.stdSerializers.err(error)
  return error instanceof Error && isRowError(error) ? { ...described, detail: undefined, where: undefined } : described
}

export function maskSecrets(text: string): string {
  return text
    .replaceAll(/(sk_(?:live|test)_|whsec_|adv_)[\w+/=-]+/g, '$1********')
    .replaceAll(/(apiSecret=|[?&]token=)[^&\s"]+/gi, '$1********')
}
