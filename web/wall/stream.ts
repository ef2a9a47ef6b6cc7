// Follows what changes: the server says so by a stream, and where streams do not get through, the page asks now and then.
const ASK_MS = 15_000

type Follower = {
  /** Asks for all that may have changed. */
  ask: () => void
  /** Whether the latest answer is missing. */
  isStale: () => boolean
  /** What to do about each event; `open`, because what changed before was not said. */
  on: Record<string, () => void>
}

/** Returns how to stop. */
export function followStream(url: string, { ask, isStale, on }: Follower): () => void {
  const stream = new EventSource(url)
  for (const [event, heard] of Object.entries(on)) stream.addEventListener(event, heard)
  stream.addEventListener('busy', () => stream.close())
  const timer = setInterval(() => {
    if (isStale() || stream.readyState !== EventSource.OPEN) whenSeen(ask)
  }, ASK_MS)
  return () => {
    clearInterval(timer)
    stream.close()
  }
}

const whenSeen = (ask: () => void) => document.visibilityState === 'visible' && ask()

/** When the user comes back to the page, or the network does. */
export function onReturn(ask: () => void): void {
  document.addEventListener('visibilitychange', () => whenSeen(ask))
  addEventListener('online', () => whenSeen(ask))
}
