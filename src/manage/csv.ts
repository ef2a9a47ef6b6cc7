// Files to download: CSV (RFC 4180), sent piece by piece.
import { pipeline } from 'node:stream/promises'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import { STRICT_POLICY } from '../http/envelope.ts'

/** Conversions in one file. */
export const MAX_EXPORT = 10_000

/** What an operation replies with that sends a file: it is described as text/csv, without an envelope. */
export const CsvFile = Type.String({ description: 'The file, with a line of names first.' })

/** An error before the first piece is answered like any other; a later one ends the connection. */
export async function sendCsv(
  { request, reply }: { request: FastifyRequest; reply: FastifyReply },
  name: string,
  pieces: AsyncGenerator<string> | Generator<string>,
): Promise<void> {
  const first = await pieces.next()
  reply.hijack()
  reply.raw.writeHead(200, {
    'Content-Type': 'text/csv; charset=utf-8',
    'Content-Disposition': `attachment; filename="${name}"`,
    'Cache-Control': 'private, no-store',
    'Content-Security-Policy': STRICT_POLICY,
    'X-Content-Type-Options': 'nosniff',
    'Referrer-Policy': 'no-referrer',
    'Cross-Origin-Resource-Policy': 'same-origin',
    'X-Request-Id': request.id,
  })
  try {
    // Ends the connection on an error: a file that is cut off must not look whole.
    await pipeline(async function* () {
      if (first.done !== true) yield first.value
      yield* pieces
    }, reply.raw)
  } catch (error) {
    const hasLeft = error instanceof Error && 'code' in error && error.code === 'ERR_STREAM_PREMATURE_CLOSE'
    if (!hasLeft) throw error
  }
}
