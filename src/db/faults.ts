// What a failed query says about the database.

/** The server is away, going away or not there yet: the same query may work later. */
export function isAway(error: unknown): boolean {
  const { code = '', message = '' } = error as { code?: string; message?: string }
  if (/^(ECONN|ENOENT|EPIPE|EHOST|ENET|ETIMEDOUT|EAI_AGAIN|ENOTFOUND)/.test(code)) return true
  // 08: connection; 57P: shutting down or starting; 53: out of connections, memory or disk; 25006: read-only standby
  if (/^(08|57P|53)/.test(code) || code === '25006') return true
  return (
    code === '' &&
    /Connection terminated|Query read timeout|timeout exceeded when trying to connect|Client has encountered/.test(
      message,
    )
  )
}

/** The data of the query was refused, so another row may still be fine: bad value (22), constraint (23). */
export function isRowFault(error: unknown): boolean {
  return /^2[23]/.test((error as { code?: string }).code ?? '')
}

export function isUniqueViolation(error: unknown): boolean {
  return (error as { code?: string }).code === '23505'
}

/** Two transactions were in each other's way, and this one was ended: the same work may well pass the next time. */
export function isCollision(error: unknown): boolean {
  return ['40P01', '40001'].includes((error as { code?: string }).code ?? '')
}

const MAX_TRIES = 10

/** Does it once more, a few times, where the database ended a transaction that was in another's way. */
export async function retrying<T>(work: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      return await work()
    } catch (error) {
      if (!isCollision(error) || tries === MAX_TRIES) throw error
    }
  }
}
