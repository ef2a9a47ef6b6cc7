// Classifies the errors of failed queries.

/** The server is down, shutting down or still starting: the same query may work later. */
export function isUnavailable(error: unknown): boolean {
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

/** The row itself was refused, so other rows may still be fine: bad value (22), constraint (23). */
export function isRowError(error: unknown): boolean {
  return /^2[23]/.test((error as { code?: string }).code ?? '')
}

export function isUniqueViolation(error: unknown): boolean {
  return (error as { code?: string }).code === '23505'
}

/** A deadlock or serialization failure ended this transaction: the same work will probably succeed if retried. */
export function isConflict(error: unknown): boolean {
  return ['40P01', '40001'].includes((error as { code?: string }).code ?? '')
}

const MAX_ATTEMPTS = 10

/** Retries work whose transaction PostgreSQL ended because of a conflict with another one. */
export async function withRetry<T>(work: () => Promise<T>): Promise<T> {
  for (let attempts = 1; ; attempts++) {
    try {
      return await work()
    } catch (error) {
      if (!isConflict(error) || attempts === MAX_ATTEMPTS) throw error
    }
  }
}
