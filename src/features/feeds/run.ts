// One run of a feed: everything is fetched and staged first, then judged, then applied. What is not complete, empty, or
// strangely small changes nothing.
import { setTimeout as sleep } from 'node:timers/promises'
import { sql } from 'kysely'
import { type Db, inTransaction } from '../../db/open.ts'
import { isUniqueViolation } from '../../db/pg-errors.ts'
import { messageOf } from '../../errors.ts'
import { PPM_PER_PERCENT } from '../../lib/money.ts'
import { type Actor, recordAuditAlone } from '../accounts/audit.ts'
import type { SocketOpener } from '../postbacks/open-socket.ts'
import { applyFetched, type ApplyOptions, pauseGone } from './apply.ts'
import { BATCH, countGone } from './plan.ts'
import { forgetLeftOut } from './notes.ts'
import { mailProblem } from './problem-mails.ts'
import { previewFetched } from './preview.ts'
import { fetchFeed, type Validators } from './fetch-feed.ts'
import { type Fetched, FetchProblem } from './fetch-page.ts'
import { FEED_DEFAULTS } from './feed-settings.ts'
import { isTooMuch } from './accept-gone.ts'
import { actionOf, type AskedRun, type Wanted } from './asked-runs.ts'
import { CredentialMask } from './credential-mask.ts'
import { endSilentRuns, holdRun, RunIsOver } from './run-fence.ts'
import { type Feed, readFeed } from './feeds.ts'
import { loadRates } from '../rates/rates.ts'
import { readableText } from './mapping/texts.ts'
import { stageItems } from './stage.ts'

const BEAT_MS = 20_000
/** For each offer that a feed may have: those that are left out are noted as well. */
const MOST_CAME = 10

export type FeedRunner = { db: Db; secretKey: string; open: SocketOpener; traceRun?: TraceFeedRun | undefined }
/** Sees each run, where traces are wanted. */
export type TraceFeedRun = (run: AskedRun, work: () => Promise<RunOutcome | null>) => Promise<void>

export type RunOutcome = 'done' | 'unchanged' | 'refused' | 'failed'

/** Returns its run_id; null when another process is running this feed. A preview changes nothing. */
export async function runFeed(
  runner: FeedRunner,
  by: Actor,
  feedId: number,
  isPreview = false,
  acceptedGone: number | null = null,
): Promise<number | null> {
  const { db } = runner
  const wanted = { isPreview, acceptedGone }
  const runId = await startRun(db, feedId, wanted)
  if (runId === null) return null
  const details = { run_id: runId, ...(acceptedGone === null ? {} : { accepted_gone: acceptedGone }) }
  const auditId = await recordAuditAlone(db, by, { action: actionOf(wanted), subject: feedId, details })
  await carryOut(runner, { runId, feedId, ...wanted, by, auditId })
  return runId
}

/** A run that is this process's. Throws where it failed for a reason of ours. */
export async function carryOut(runner: FeedRunner, run: AskedRun): Promise<void> {
  const work = () => carryOutUntraced(runner, run)
  await (runner.traceRun === undefined ? work() : runner.traceRun(run, work))
}

/** Null: it was over before it ended. */
async function carryOutUntraced(runner: FeedRunner, run: AskedRun): Promise<RunOutcome | null> {
  const { db, secretKey } = runner
  const { runId, feedId, isPreview } = run
  const beat = setInterval(() => void beatRun(db, runId).catch(() => {}), BEAT_MS)
  let feed: Feed | null = null
  try {
    feed = await readFeed(db, secretKey, feedId)
    const { outcome, message, waitS } = await attempt(runner, feed, run)
    if (!(await endRun(db, runId, outcome, message))) return null
    await forgetLeftOut(db, feedId)
    if (!isPreview) await planNext(db, run, feed, outcome, waitS)
    return outcome
  } catch (error) {
    if (error instanceof RunIsOver) return null
    await endRun(db, runId, 'failed', new CredentialMask(feed?.credentials ?? {}).text(messageOf(error)))
    if (!isPreview) await planNext(db, run, feed, 'failed', null)
    throw error
  } finally {
    clearInterval(beat)
    await db.deleteFrom('feed_staging').where('run_id', '=', runId).execute()
  }
}

type Attempt = { outcome: RunOutcome; message: string; waitS: number | null }

async function attempt(
  runner: FeedRunner,
  feed: Feed,
  { by, runId, auditId, isPreview, acceptedGone }: AskedRun,
): Promise<Attempt> {
  const { db, open } = runner
  const { feedId, name, advertiser, request, mapping, credentials, settings, validators } = feed
  const ended = (outcome: RunOutcome, message = '', waitS: number | null = null) => ({ outcome, message, waitS })
  const { rateOf: rates, mark } = await loadRates(db, new Date())
  // An answer that has not changed is worth something else when a rate has, which can be by a new day alone.
  const mask = new CredentialMask(credentials)
  const isKnown = !isPreview && acceptedGone === null && validators.rates === mark && (await isAllApplied(db, feedId))
  const known = isKnown ? { validators } : {}
  let [staged, came] = [0, 0]
  const take = async (items: unknown[]) => {
    // A page can be the whole feed: a slice at a time is made into offers, and let go.
    while (items.length > 0 && staged <= settings.maxOffers) {
      const slice = items.splice(0, BATCH)
      const counted = await stageItems(db, { runId, advertiser, mapping, settings, rates, mask }, slice, came)
      staged += counted.staged
      came += slice.length
    }
    const { maxOffers } = settings
    if (staged > maxOffers) throw new FetchProblem(`The feed has more than ${maxOffers.toLocaleString('en')} offers, which is its maximum.`) // prettier-ignore
    if (came > maxOffers * MOST_CAME) throw new FetchProblem(`More than ${(maxOffers * MOST_CAME).toLocaleString('en')} offers came, most of which are skipped. Raise the maximum of offers, or request fewer from the network.`) // prettier-ignore
  }
  try {
    const fetched = await fetchFeed({ request, mapping, credentials }, { open, ...known, pause: sleep, now: Date.now, mask, take }) // prettier-ignore
    if (fetched.kind === 'unchanged') return ended('unchanged')
    await noteFetched(db, runId, fetched)
    const plan = { feedId, runId, maxPayoutChangePpm: settings.maxPayoutChangePpm, mask }
    if (isPreview) await previewFetched(db, plan)
    const counted = await countGone(db, feedId, runId)
    const { running, gone } = counted
    await db.updateTable('feed_runs').set({ gone }).where('run_id', '=', runId).execute()
    if (fetched.offers === 0 && (acceptedGone === null || gone > acceptedGone))
      return ended('refused', 'The feed had no offers. Nothing was changed.')
    if (isTooMuch(counted, settings.maxGonePpm, acceptedGone))
      return ended('refused', `${gone} of ${running} offers would be paused, which is more than ${settings.maxGonePpm / PPM_PER_PERCENT} %. Nothing was changed.`) // prettier-ignore
    if (fetched.missing > 0 && gone > (acceptedGone ?? 0))
      return ended('refused', `${fetched.twice} offers came twice, and ${fetched.missing} of those that the upstream reports did not come: ${gone} offers would be paused that may still be there. Nothing was changed.`) // prettier-ignore
    if (isPreview) return ended('done')
    const options: ApplyOptions = { ...plan, name, by, auditId, now: new Date() }
    await applyFetched(db, options)
    await pauseGone(db, options)
    await keepValidators(db, runId, feed, { ...fetched.validators, rates: mark })
    return ended('done')
  } catch (error) {
    if (!(error instanceof FetchProblem)) throw error
    await noteFetched(db, runId, error.fetched)
    return ended('failed', `${error.message} Nothing was changed.`, error.retryAfterS)
  }
}

/** Also of a run that fails: how far it came. */
const noteFetched = (db: Db, runId: number, { pages, bytes, offers }: Fetched) =>
  db.updateTable('feed_runs').set({ pages, bytes, fetched: offers }).where('run_id', '=', runId).execute()

/** What an operator has set meanwhile is not applied yet: then everything is read again. */
async function keepValidators(
  db: Db,
  runId: number,
  { feedId, revision }: Feed,
  validators: Validators,
): Promise<void> {
  await inTransaction(db, async (trx) => {
    await holdRun(trx, runId)
    await trx.updateTable('feeds').set({ validators: JSON.stringify(validators) }).where('feed_id', '=', feedId).where(sql`updated_at::text`, '=', revision).execute() // prettier-ignore
  })
}

/** Otherwise an edit that is taken back would wait until the answer changes. */
async function isAllApplied(db: Db, feedId: number): Promise<boolean> {
  const { rows } = await sql`SELECT FROM feed_offers WHERE feed_id = ${feedId} AND (unapplied IS NOT NULL OR held_hash IS NOT NULL) LIMIT 1`.execute(db) // prettier-ignore
  return rows.length === 0
}

/** Null: one is running. */
async function startRun(db: Db, feedId: number, { isPreview, acceptedGone }: Wanted): Promise<number | null> {
  await endSilentRuns(db)
  try {
    const { run_id } = await db.insertInto('feed_runs').values({ feed_id: feedId, is_preview: isPreview, accepted_gone: acceptedGone }).returning('run_id').executeTakeFirstOrThrow() // prettier-ignore
    return run_id
  } catch (error) {
    if (isUniqueViolation(error)) return null
    throw error
  }
}

const beatRun = (db: Db, runId: number) => sql`UPDATE feed_runs SET beat_at = now() WHERE run_id = ${runId}`.execute(db)

/** With how many offers each thing happened to. What was fetched goes in the same moment. False: it was over. */
async function endRun(db: Db, runId: number, outcome: RunOutcome, said: string): Promise<boolean> {
  const message = readableText(said)
  const { numAffectedRows } = await sql`WITH fetched AS (DELETE FROM feed_staging WHERE run_id = ${runId})
    UPDATE feed_runs r SET ended_at = now(), outcome = ${outcome}, message = ${message},
      created = c.created, changed = c.changed, paused = c.paused, resumed = c.resumed, held = c.held, skipped = c.skipped,
      unchanged = CASE WHEN ${outcome} = 'failed' THEN 0 ELSE greatest(0, r.fetched - c.created - c.changed - c.resumed - c.held - c.skipped - c.left_out) END
    FROM (SELECT count(*) FILTER (WHERE kind = 'created')::int AS created, count(*) FILTER (WHERE kind = 'changed')::int AS changed,
      count(*) FILTER (WHERE kind = 'paused')::int AS paused, count(*) FILTER (WHERE kind = 'resumed')::int AS resumed,
      count(*) FILTER (WHERE kind = 'paused' AND details ? 'reason')::int AS left_out, -- they came
      count(*) FILTER (WHERE kind = 'held')::int AS held, count(*) FILTER (WHERE kind = 'skipped')::int AS skipped
      FROM feed_changes WHERE run_id = ${runId}) c
    WHERE r.run_id = ${runId} AND r.ended_at IS NULL`.execute(db)
  return Number(numAffectedRows ?? 0) > 0
}

const MAX_BACKOFF_S = 6 * 3_600

/**
 * At its interval, not all feeds at once; after failures later and later, and never before the upstream wants. What was
 * changed during the run is due at once.
 */
async function planNext(
  db: Db,
  { feedId, runId }: AskedRun,
  feed: Feed | null,
  outcome: RunOutcome,
  waitS: number | null,
): Promise<void> {
  const { everyS } = feed?.settings ?? FEED_DEFAULTS
  const hasFailed = outcome === 'failed'
  const isTroubled = hasFailed || outcome === 'refused'
  const jitter = 0.9 + Math.random() * 0.2
  await inTransaction(db, async (trx) => {
    await sql`UPDATE feeds SET failures = CASE WHEN ${hasFailed} THEN failures + 1 ELSE 0 END,
      troubled_at = CASE WHEN ${isTroubled} THEN coalesce(troubled_at, now()) END,
      due_at = greatest(now() + interval '1 second' * ${waitS ?? 0}::float8, CASE WHEN updated_at::text IS DISTINCT FROM ${feed?.revision ?? null}::text THEN due_at
        ELSE now() + interval '1 second' * ${jitter}::float8 * CASE WHEN ${hasFailed} THEN least(${everyS}::float8 * power(2, least(failures, 10)), greatest(${MAX_BACKOFF_S}::float8, ${everyS}::float8)) ELSE ${everyS}::float8 END END)
    WHERE feed_id = ${feedId}`.execute(trx)
    if (isTroubled) await mailProblem(trx, feedId, runId)
  })
}
