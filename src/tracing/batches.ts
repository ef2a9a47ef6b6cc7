// A span for each row of a group commit whose request is recorded: what the request waited for.
import { SpanKind } from '@opentelemetry/api'
import type { RowOrigin, TraceBatch } from '../db/batch-writer.ts'
import { errorType, nowMs, type Recorder, safely } from './recorder.ts'

export const createBatchTracer =
  (recorder: Recorder): TraceBatch =>
  (table, write, describe) =>
  async (rows) => {
    const startedMs = nowMs()
    const record = (origins: RowOrigin[], error: string | null) => {
      const endedMs = nowMs()
      for (const { requestId, flow = null, link = flow } of origins) {
        if (requestId === null) continue
        const asked = recorder.open.get(requestId)
        if (asked !== undefined) asked.flow = flow
        if (!recorder.isRecorded(requestId, flow)) continue
        const links = link === null ? [] : [recorder.linkTo(link)]
        asked?.links.push(...links)
        recorder.addBelow(requestId, {
          name: `commit ${table}`,
          kind: SpanKind.CLIENT,
          startedMs,
          endedMs,
          attributes: {
            'db.system.name': 'postgresql',
            'db.collection.name': table,
            'db.operation.batch.size': rows.length,
            'offerdeck.request_id': requestId,
          },
          links,
          error,
        })
      }
    }
    let results: Awaited<ReturnType<typeof write>>
    try {
      results = await write(rows)
    } catch (error) {
      safely(() => record(rows.map((row) => describe(row, undefined)), errorType(error))) // prettier-ignore
      throw error
    }
    safely(() => record(rows.map((row, i) => describe(row, results[i])), null)) // prettier-ignore
    return results
  }
