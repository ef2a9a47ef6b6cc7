// Files to download: CSV (RFC 4180), sent piece by piece.
import { pipeline } from 'node:stream/promises'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import type { Stats, StatsRow } from '../../features/reports/schema.ts'
import { STRICT_POLICY } from '../../http/envelope.ts'
import { csvLine } from '../../lib/csv-line.ts'

/** What the operation is said to answer with: the file itself. */
export const CsvFile = Type.String({ description: 'The file itself, as text/csv, without an envelope.' })

const FIGURES = ['clicks', 'conversions', 'pending', 'approved', 'rejected', 'reversed', 'payout', 'payout_local', 'epc', 'conversion_rate'] as const // prettier-ignore

/** What is wrong before the first piece is answered as any other fault. */
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
    'X-Request-Id': request.id,
  })
  try {
    // A fault on the way ends the connection: a file that is cut off must not look whole.
    await pipeline(async function* () {
      if (first.done !== true) yield first.value
      yield* pieces
    }, reply.raw)
  } catch (error) {
    const hasLeft = error instanceof Error && 'code' in error && error.code === 'ERR_STREAM_PREMATURE_CLOSE'
    if (!hasLeft) throw error
  }
}

/** The columns of the group, then the figures. */
export function* writeStats({ group_by, rows }: Stats): Generator<string> {
  const keys: (keyof StatsRow)[] = group_by === 'offer' ? ['offer_id', 'offer_name'] : [group_by]
  const columns = [...keys, ...FIGURES]
  yield csvLine(columns)
  for (const row of rows) yield csvLine(columns.map((column) => row[column] ?? null))
}
