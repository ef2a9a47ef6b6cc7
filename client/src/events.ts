// The feed of events, page after page.
import type { Schemas } from './api-types.ts'
import type { Call, CallOptions } from './call.ts'
import { sleep } from './timing.ts'

/** One change of a conversion. The body of a postback is the same. */
export type ConversionEvent = Schemas['EventList']['events'][number]

export type FeedEntry = {
  event: ConversionEvent
  /**
   * Store it once `event` is processed, and pass it as `after` to go on from here. It moves on at the end of each page:
   * after a crash, up to a page of events comes again. Process each `event.id` once.
   */
  cursor: string
}

export type FeedOptions = CallOptions & {
  /** The stored cursor; without one, or with an empty one, from the first event. */
  after?: string | null | undefined
  /** Events in a page, 100 at most and by default. */
  limit?: number | undefined
  /** Whether to wait for new events at the end, instead of ending; and, once it has begun, for the end of an outage. */
  follow?: boolean | undefined
  /** How long to wait at the end of the feed before asking again. 5,000 by default. */
  pollMs?: number | undefined
}

export async function* readFeed(call: Call, options: FeedOptions = {}): AsyncGenerator<FeedEntry, void, undefined> {
  const { after, limit = 100, follow = false, pollMs = 5_000, ...callOptions } = options
  let cursor = after ?? ''
  let patience: CallOptions = {}
  for (;;) {
    const query = cursor === '' ? { limit } : { after: cursor, limit }
    const { events, next_cursor, has_more } = await call('GET /events', { query }, { ...patience, ...callOptions })
    if (follow) patience = { timeoutMs: Infinity, retries: Infinity }
    for (const [i, event] of events.entries()) yield { event, cursor: i < events.length - 1 ? cursor : next_cursor }
    cursor = next_cursor
    if (has_more) continue
    if (!follow) return
    await sleep(pollMs, callOptions.signal)
  }
}
