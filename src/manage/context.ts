// What the operations of the management API work with.
import type { Config } from '../config.ts'
import type { Database, Db } from '../db/open.ts'
import type { Replica } from '../db/replica.ts'
import type { Credentials } from '../features/apps/credentials.ts'
import type { CommandQueue } from '../features/conversions/command-queue.ts'
import type { Catalogue } from '../features/offers/catalogue.ts'
import type { Completions } from '../features/offers/completions.ts'
import type { RateLimiter } from '../http/rate-limit.ts'
import type { Auth } from './auth.ts'

export type ManageContext = {
  db: Db
  /** Where what only reads comes from, if there is one. */
  replica: Replica | null
  pool: Database['pool']
  config: Config
  secretKey: string
  limiter: RateLimiter
  auth: Auth
  /** What every request is answered from, in memory. */
  catalogue: Catalogue
  completions: Completions
  credentials: Credentials
  applyCommand: CommandQueue['apply']
  /** Says that there are postbacks to send. */
  wakePostbacks: () => void
  /** Applies what changed in the database now: a person who changed an offer or an app sees it at once. */
  refresh: () => Promise<void>
  /** Sends the mails that are queued, now; null where no mail server is set. It is not waited for: a worker retries. */
  sendMails: (() => void) | null
}
