// The schemas of postback health, over all apps.
import { Type } from 'typebox'
import { LANE_STATES } from '../../../features/postbacks/health.ts'
import { OFFSET_PAGE_QUERY } from '../../../http/paging.ts'
import { id, oneOf, orNull, text, Time } from '../../shapes.ts'
import { shape } from '../../../http/shape.ts'

export const LaneQuery = Type.Object({
  state: Type.Optional(oneOf(LANE_STATES)),
  search: Type.Optional(text(100, 'Part of the name of the app or publisher.')),
  ...OFFSET_PAGE_QUERY,
})

const Count = Type.Integer({ minimum: 0 })

export const LaneList = shape('PostbackLaneList', {
  lanes: Type.Array(
    Type.Object({
      app_id: id,
      app: Type.String(),
      publisher_id: id,
      publisher: Type.String(),
      has_address: Type.Boolean(),
      state: Type.Unsafe<(typeof LANE_STATES)[number]>({
        type: 'string',
        enum: [...LANE_STATES],
        description:
          '`failing`: the latest delivery failed. `waiting`: after many failures, nothing is sent for a while.',
      }),
      paused_at: orNull(Time),
      pause_reason: orNull(
        Type.String({ description: 'Why deliveries are paused: gone, failing, operator or no address.' }),
      ),
      failing_since: orNull(Time),
      open_until: orNull(Time),
      queued: Count,
      oldest_due_at: orNull(Time),
      dead: Count,
      delivered_24h: Count,
      failed_24h: Type.Integer({
        description: 'Postbacks of the last 24 hours that were attempted but not delivered.',
      }),
      p95_ms: orNull(
        Type.Integer({ description: '95th percentile of the duration of attempts in the last 24 hours.' }),
      ),
      last_error: orNull(Type.String()),
    }),
  ),
  total: Count,
  counts: Type.Object({ ok: Count, failing: Count, waiting: Count, paused: Count }),
})
