// A word between processes that there is something to do (NOTIFY): it saves a wait, and nothing depends on it. It does
// not pass a PgBouncer that pools transactions, and is lost while the database is unavailable; whoever listens also looks now
// and then.
import type pg from 'pg'

const QUIET_MS = 5
const RETRY_MS = 1_000

export type Signal = {
  /** Soon, and once for many. Never fails. */
  send: () => void
  /** Resolves with how to stop. */
  listen: (onSignal: () => void) => Promise<() => Promise<void>>
}

export function createSignal(pool: pg.Pool, channel: string): Signal {
  let timer: NodeJS.Timeout | null = null
  return {
    send() {
      timer ??= setTimeout(() => {
        timer = null
        pool.query(`NOTIFY ${channel}`).catch(() => {})
      }, QUIET_MS).unref()
    },
    async listen(onSignal) {
      let client: pg.PoolClient | null = null
      let retry: NodeJS.Timeout | null = null
      let isStopped = false
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
          made.on('notification', onSignal)
          await made.query(`LISTEN ${channel}`)
          onSignal() // for what was said meanwhile
        } catch {
          lose()
        }
      }
      const lose = () => {
        client?.removeListener('notification', onSignal)
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
