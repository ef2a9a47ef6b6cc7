// The second factor: codes of an authenticator app (RFC 6238, six digits every 30 seconds). Each code is valid once,
// whichever process receives it: the step of the latest one is stored, and only later steps are accepted. Secrets
// and backup codes are stored as better-auth stores them, both encrypted, because it judges them at a sign-in.
import { createHmac, timingSafeEqual } from 'node:crypto'
import type { Trx } from '../../db/open.ts'
import { type Actor, recordAudit } from './audit.ts'
import { type Account, lockPerson, type Person } from './people.ts'
import { endSessionsOf, noteCodeGiven } from './sessions.ts'

const STEP_MS = 30_000
const STEPS_APART = [-1, 0, 1] // clocks of phones differ, and typing takes its time
const MAX_FAILURES = 10 // in a row
const LOCK_MS = 15 * 60_000

/** used: the code is right, but it or a later one was used before. none: there is no second factor, or not yet. */
export type Verdict = 'right' | 'wrong' | 'used' | 'locked' | 'none'

type Given = { personId: string; code: string; openSecret: (sealed: string) => Promise<string> }

/** Uses a code up. Wrong ones are counted, and too many in a row lock the second factor for a while. */
export async function useCode(trx: Trx, { personId, code, openSecret }: Given, now: Date): Promise<Verdict> {
  const factor = await findFactor(trx, personId)
  if (factor === undefined) return 'none'
  if (factor.locked_until !== null && factor.locked_until > now) return 'locked'
  const step = matchStep(await openSecret(factor.secret), code, now)
  if (step !== null && step <= lastStep(factor, now)) return 'used'
  const failures = step === null ? (factor.failed_verification_count ?? 0) + 1 : 0
  const isLocked = failures >= MAX_FAILURES
  await trx
    .updateTable('two_factors')
    .set({
      failed_verification_count: isLocked ? 0 : failures,
      locked_until: isLocked ? new Date(now.getTime() + LOCK_MS) : null,
      ...(step === null ? {} : { last_step: step }),
    })
    .where('id', '=', factor.id)
    .execute()
  return step === null ? 'wrong' : 'right'
}

/** For signing in, where better-auth judges and counts: uses a right code up. False when it was used before. */
export async function burnCode(trx: Trx, { personId, code, openSecret }: Given, now: Date): Promise<boolean> {
  const factor = await findFactor(trx, personId)
  const step = factor === undefined ? null : matchStep(await openSecret(factor.secret), code, now)
  if (factor === undefined || step === null) return true
  if (step <= lastStep(factor, now)) return false
  await trx.updateTable('two_factors').set({ last_step: step }).where('id', '=', factor.id).execute()
  return true
}

const findFactor = (trx: Trx, personId: string) =>
  trx
    .selectFrom('two_factors')
    .select(['id', 'secret', 'last_step', 'failed_verification_count', 'locked_until'])
    .where('person_id', '=', personId)
    .forUpdate()
    .executeTakeFirst()

/** A step in the future comes from a clock that was wrong: it must not lock the person out until then. */
const lastStep = ({ last_step }: { last_step: number | null }, now: Date) =>
  last_step === null || last_step > now.getTime() / STEP_MS + 1 ? 0 : last_step

/** The step whose code this is, or null. */
function matchStep(secret: string, code: string, now: Date): number | null {
  const present = Math.floor(now.getTime() / STEP_MS)
  const step = STEPS_APART.find((apart) => isEqual(codeOf(secret, present + apart), code))
  return step === undefined ? null : present + step
}

const isEqual = (a: string, b: string) => a.length === b.length && timingSafeEqual(Buffer.from(a), Buffer.from(b))

function codeOf(secret: string, step: number): string {
  const counter = Buffer.alloc(8)
  counter.writeBigUInt64BE(BigInt(step))
  const mac = createHmac('sha1', secret).update(counter).digest()
  const number = mac.readUInt32BE((mac.at(-1) ?? 0) & 15) & 0x7fff_ffff
  return String(number % 1_000_000).padStart(6, '0')
}

/** After its first code, of a person who is locked. Other sessions than this one end. */
export async function enableSecondFactor(
  trx: Trx,
  by: Actor,
  { id, publisherId }: Account,
  session: { id: string } | null,
): Promise<void> {
  await trx.updateTable('two_factors').set({ verified: true }).where('person_id', '=', id).execute()
  await trx.updateTable('people').set({ two_factor_enabled: true }).where('id', '=', id).execute()
  if (session !== null) await noteCodeGiven(trx, session)
  await endSessionsOf(trx, id, session?.id ?? null)
  await recordAudit(trx, by, { action: 'two_factor.enable', subject: id, publisherId })
}

/** By its owner. Other sessions than this one end. False when there was none. */
export async function disableSecondFactor(
  trx: Trx,
  by: Actor,
  { id, publisherId }: Account,
  session: { id: string } | null,
): Promise<boolean> {
  if (!(await removeSecondFactor(trx, id))) return false
  await endSessionsOf(trx, id, session?.id ?? null)
  await recordAudit(trx, by, { action: 'two_factor.disable', subject: id, publisherId })
  return true
}

/** By an operator, for a person who lost it. False when there was none. */
export async function resetSecondFactor(
  trx: Trx,
  by: Actor,
  { id, email, publisher_id: publisherId }: Person,
): Promise<boolean> {
  if (!(await removeSecondFactor(trx, id))) return false
  await endSessionsOf(trx, id, null)
  await recordAudit(trx, by, { action: 'user.reset_two_factor', subject: id, publisherId, details: { email } })
  return true
}

/** False when there is none. A setup that was never confirmed is none, and stays. */
async function removeSecondFactor(trx: Trx, personId: string): Promise<boolean> {
  const person = await lockPerson(trx, personId)
  if (person?.two_factor_enabled !== true) return false
  await trx.deleteFrom('two_factors').where('person_id', '=', personId).execute()
  await trx.updateTable('people').set({ two_factor_enabled: false }).where('id', '=', personId).execute()
  return true
}
