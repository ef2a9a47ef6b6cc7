/** What `setTimeout` can wait at most. Longer is for ever. */
const LONGEST_MS = 2 ** 31 - 1

/** Rejects with the reason of the signal when that is aborted meanwhile. */
export function sleep(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    signal?.throwIfAborted()
    const abort = () => {
      clearTimeout(timer)
      reject(signal?.reason as Error)
    }
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', abort)
      resolve()
    }, Math.min(ms, LONGEST_MS)) // prettier-ignore
    signal?.addEventListener('abort', abort, { once: true })
  })
}

/** Runs `work` with a signal that is aborted after `ms`, or with `outer`. Says afterwards whether it was the time. */
export async function withTimeout<T>(
  ms: number,
  outer: AbortSignal | undefined,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<{ value: T } | { error: unknown; isLate: boolean }> {
  const inner = new AbortController()
  let isLate = false
  const abort = () => inner.abort(outer?.reason)
  const end = () => {
    isLate = true
    inner.abort()
  }
  const timer = ms <= LONGEST_MS ? setTimeout(end, ms) : undefined
  outer?.addEventListener('abort', abort, { once: true })
  try {
    return { value: await work(inner.signal) }
  } catch (error) {
    return { error, isLate }
  } finally {
    clearTimeout(timer)
    outer?.removeEventListener('abort', abort)
  }
}
