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
      lag_seconds: orNull(Type.Number({ description: 'Null: it does not answer.' })),
      is_used: Type.Boolean({ description: 'False: it does not keep up, and the dashboard reads from the primary.' }),
    }),
  ),
  backups: orNull(
    Type.Object(
      {
        last_at: orNull(Time),
        last_bytes: orNull(Count),
        is_late: Type.Boolean({ description: 'True: the last one is older than it should be, or there is none.' }),
      },
      { description: 'Of the embedded database. Null: none is made, because `BACKUP_DIR` is not set.' },
    ),
  ),
  queues: Type.Object({
    postbacks_queued: Type.Integer({
      description: 'Of this and the others in the database, at most 10,000 are counted.',
    }),
    postbacks_due: Type.Integer({ description: 'Of the queued ones: those that should be sent by now.' }),
    postbacks_sending: Count,
    oldest_due_at: orNull(Time),
    waiting_events: Type.Integer({ description: 'Events of conversions that have no place in the feed yet.' }),
    unmatched_calls: Type.Integer({ description: "Advertisers' calls that are tried again." }),
    mails_queued: Count,
    spool_files: Type.Integer({ description: 'On this node: what the database could not take.' }),
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
          failures: Type.Integer({ description: 'In a row.' }),
          failing_since: orNull(Time),
          failure: orNull(Type.String()),
          lost_rows: Type.Integer({ description: 'Deleted by retention before they were exported.' }),
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
        description: 'False: it was not heard of for half a minute, and has not taken its leave.',
      }),
    }),
    { description: 'What runs on this database, on whichever machine. One process may be both parts.' },
  ),
  rate_limits: oneOf(['redis', 'memory']),
  has_mail: Type.Boolean(),
  logo: orNull(Type.String({ description: "The path of the network's logo. Null: none is set." })),
  failed_mails: Type.Array(
    Type.Object({
      kind: oneOf(MAIL_KINDS),
      recipient: orNull(Type.String()),
      attempts: Count,
      failure: Type.String({ description: "The mail server's last answer, as a code." }),
      created_at: Time,
      settled_at: Time,
    }),
    { description: 'The latest mails that failed: refused, or not accepted in time.' },
  ),
  settings: Type.Array(
    Type.Object({
      name: Type.String(),
      value: Type.String({ description: 'For what may hold a secret, only whether it is set.' }),
      about: Type.String(),
    }),
  ),
})

export const NewLogo = shape('NewLogo', {
  path: orNull(Type.String({ description: 'As `POST /manage/v1/images` returns it. Null removes the logo.' })),
})
