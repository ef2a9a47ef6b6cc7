// Credits users from the feed of events instead of postbacks, or besides them: what was lost is here, too.
import { readFileSync, writeFileSync } from 'node:fs'
import { Offerdeck } from '@offerdeck/client'
import { credit } from './accounts.mjs'

const { OFFERDECK_URL = '', OFFERDECK_KEY = '', OFFERDECK_SECRET = '', CURSOR_FILE = 'cursor' } = process.env
const offerdeck = new Offerdeck({ baseUrl: OFFERDECK_URL, apiKey: OFFERDECK_KEY, apiSecret: OFFERDECK_SECRET })

/** In your app, the cursor is in your database, too. */
const readCursor = () => {
  try {
    return readFileSync(CURSOR_FILE, 'utf8')
  } catch {
    return null // the first start
  }
}

// Without a limit of time or attempts, an outage at the start is waited for, too.
for await (const { event, cursor } of offerdeck.events({
  after: readCursor(),
  follow: true,
  timeoutMs: Infinity,
  retries: Infinity,
})) {
  credit(event)
  writeFileSync(CURSOR_FILE, cursor)
  console.log(event.type, event.data.user_id, event.data.payout_local)
}
