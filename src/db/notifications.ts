// Notifies other processes that there is something to do (NOTIFY): it saves a wait, and nothing depends on it. It does
// not pass a PgBouncer that pools transactions, and is lost while the database is unavailable; listeners also poll.
import type pg from 'pg'

const QUIET_MS = 5
const RETRY_MS = 1_000

export type Notifier = {
  /** Sends soon, and once for many calls. Never fails. */
  send: () => void
  /** Resolves with a function that stops listening. */
  listen: (onNotify: (payload: string) => void) => Promise<() => Promise<void>>
}

export function createNotifier(pool: pg.Pool, channel: string): Notifier {
  let timer: NodeJS.Timeout | null = null
  return {
    send() {
      timer ??= setTimeout(() => {
        timer = null
        pool.query(`NOTIFY ${channel}`).catch(() => {})
      }, QUIET_MS).unref()
    },
    async listen(onNotify) {
      let client: pg.PoolClient | null = null
      let retry: NodeJS.Timeout | null = null
      let isStopped = false
      const take = ({ payload = '' }: pg.Notification) => onNotify(payload)
      const connect = async (): Promise<void> => {
        retry = null
        try {
          const made = await pool.connect()
          if (isStopped) return made.release(true)
          client = made
          const loseThis = () => {
            if (client === made) lose()
          }
          made.once('error', loseThis)
          made.once('end', loseThis)
          made.on('notification', take)
          await made.query(`LISTEN ${channel}`)
          onNotify('') // for notifications missed meanwhile
        } catch {
          lose()
        }
      }
      const lose = () => {
        client?.removeListener('notification', take)
        client?.release(true)
        client = null
        if (!isStopped) retry ??= setTimeout(() => void connect(), RETRY_MS).unref()
      }
      await connect()
      return async () => {
        isStopped = true
        if (retry !== null) clearTimeout(retry)
        lose()
      }
    },
  }
}
