import type { FastifyBaseLogger } from 'fastify'
import { pino } from 'pino'
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
    { level, base: null, timestamp: pino.stdTimeFunctions.isoTime, hooks: { streamWrite: maskSecrets } },
    destination,
  )
}

export function maskSecrets(text: string): string {
  return text
    .replaceAll(/(sk_(?:live|test)_|whsec_|adv_)[\w+/=-]+/g, '$1********')
    .replaceAll(/(apiSecret=|[?&]token=)[^&\s"]+/gi, '$1********')
}
