// The shape of how the program is.
import { Type } from 'typebox'
import { MAIL_KINDS } from '../../../features/accounts/mails.ts'
import { oneOf, orNull, Time } from '../../shapes.ts'
import { shape } from '../../../http/shape.ts'

const Count = Type.Integer({ minimum: 0 })

export const System = shape('System', {
  version: Type.String(),
  node: Type.Object({
    version: Type.String(),
    started_at: Time,
    memory_bytes: Count,
  }),
  database: Type.Object({
    version: Type.String(),
    is_embedded: Type.Boolean(),
    bytes: Count,
    connections: Count,
    max_connections: Count,
    clock_ahead_ms: Type.Integer({ description: "How far the database's clock is ahead of this process's." }),
  }),
  replica: orNull(
    Type.Object({
      lag_seconds: orNull(Type.Number({ description: 'How far the replica is behind; null if it does not respond.' })),
      is_used: Type.Boolean({
        description: 'Whether the dashboard reads from the replica. If it falls behind, the primary is used.',
      }),
    }),
  ),
  backups: orNull(
    Type.Object(
      {
        last_at: orNull(Time),
        last_bytes: orNull(Count),
        is_late: Type.Boolean({ description: 'Whether the last backup is overdue or missing.' }),
      },
      { description: 'Backups of the embedded database; null if `BACKUP_DIR` is not set.' },
    ),
  ),
  queues: Type.Object({
    postbacks_queued: Type.Integer({
      description: 'Queued postbacks. Like all queues in the database, counted up to 10,000.',
    }),
    postbacks_due: Type.Integer({ description: 'Queued postbacks that are due.' }),
    postbacks_sending: Count,
    oldest_due_at: orNull(Time),
    waiting_events: Type.Integer({ description: 'Conversion events that have no position in the event feed yet.' }),
    unmatched_calls: Type.Integer({ description: 'Advertiser callbacks that are being retried.' }),
    mails_queued: Count,
    spool_files: Type.Integer({
      description: 'Files on this node with rows that could not be written to the database yet.',
    }),
    spool_bytes: Count,
  }),
  export: orNull(
    Type.Object({
      target: Type.String(),
      kinds: Type.Array(
        Type.Object({
          kind: Type.String(),
          files: Count,
          rows: Count,
          created_at: Time,
          caught_up_at: orNull(Time),
          failures: Type.Integer({ description: 'Failed exports in a row.' }),
          failing_since: orNull(Time),
          failure: orNull(Type.String()),
          lost_rows: Type.Integer({ description: 'Rows deleted by retention before they were exported.' }),
        }),
      ),
    }),
  ),
  partitions: Type.Array(
    Type.Object({
      table: Type.String(),
      count: Count,
      oldest_day: orNull(Type.String()),
      newest_day: orNull(Type.String()),
      bytes: Count,
    }),
  ),
  nodes: Type.Array(
    Type.Object({
      host: Type.String(),
      pid: Type.Integer(),
      part: oneOf(['api', 'worker']),
      version: Type.String(),
      started_at: Time,
      seen_at: Time,
      is_here: Type.Boolean({
        description: 'False if the process has been silent for half a minute without having stopped normally.',
      }),
    }),
    { description: 'Processes that use this database, on any machine. One process may run both parts.' },
  ),
  rate_limits: oneOf(['redis', 'memory']),
  has_mail: Type.Boolean(),
  logo: orNull(Type.String({ description: "Path of the network's logo, or null." })),
  failed_mails: Type.Array(
    Type.Object({
      kind: oneOf(MAIL_KINDS),
      recipient: orNull(Type.String()),
      attempts: Count,
      failure: Type.String({ description: 'Last response code of the mail server.' }),
      created_at: Time,
      settled_at: Time,
    }),
    { description: 'Latest failed mails: refused, or not accepted in time.' },
  ),
  settings: Type.Array(
    Type.Object({
      name: Type.String(),
      value: Type.String({ description: 'Value; for settings that may hold a secret, only whether it is set.' }),
      about: Type.String(),
    }),
  ),
})

export const NewLogo = shape('NewLogo', {
  path: orNull(Type.String({ description: 'Path returned by `POST /manage/v1/images`. Null removes the logo.' })),
})
