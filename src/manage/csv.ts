// Files to download, sent piece by piece: CSV (RFC 4180), or lines of JSON.
import { pipeline } from 'node:stream/promises'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import { stayHttps, STRICT_POLICY } from '../http/envelope.ts'

/** Conversions in one file. */
export const MAX_EXPORT = 10_000

/** What an operation replies with that sends a file: it is described as text/csv, without an envelope. */
export const CsvFile = Type.String({ description: 'CSV file with a header line.' })

/** The same, as lines of JSON. */
export const NdjsonFile = Type.String({ description: 'File with one JSON object per line.' })

/** An error before the first piece is answered like any other; a later one ends the connection. */
export const sendCsv = (call: Answered, name: string, pieces: Pieces): Promise<void> =>
  sendFile(call, name, 'text/csv; charset=utf-8', pieces)
export const sendNdjson = (call: Answered, name: string, pieces: Pieces): Promise<void> =>
  sendFile(call, name, 'application/x-ndjson', pieces)

type Answered = { request: FastifyRequest; reply: FastifyReply }
type Pieces = AsyncGenerator<string> | Generator<string>

async function sendFile({ request, reply }: Answered, name: string, type: string, pieces: Pieces): Promise<void> {
  const first = await pieces.next()
  reply.hijack()
  reply.raw.writeHead(200, {
    'Content-Type': type,
    'Content-Disposition': `attachment; filename="${name}"`,
    'Cache-Control': 'private, no-store',
    'Content-Security-Policy': STRICT_POLICY,
    'X-Content-Type-Options': 'nosniff',
    'Referrer-Policy': 'no-referrer',
    'Cross-Origin-Resource-Policy': 'same-origin',
    'X-Request-Id': request.id,
    ...stayHttps(request),
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
