// Defects of the money path that were found once and fixed, each as the few lines that would bring it back. A test that
// does not notice when one is back is not worth its time: scripts/undo-mends.ts checks each.

const MODEL = 'src/features/conversions/model.test.ts'
const LEDGER_MODEL = 'src/features/ledger/model.test.ts'
const CONVERSIONS = 'src/features/conversions'
const CAPS = 'src/features/offers/caps.ts'

export type Mend = {
  /** What happens without it. */
  without: string
  file: string
  /** Stands in the file exactly once. */
  now: string
  /** What takes its place. */
  undone: string
  /** Must fail then. */
  test: string
}

const mend = (without: string, file: string, now: string, undone: string, test = MODEL): Mend => ({
  without,
  file,
  now,
  undone,
  test,
})

export const MENDS: Mend[] = [
  mend(
    'a goal that an import renames is another goal',
    'src/features/offers/write-goals.ts',
    'if (isRename) for (const',
    'if (isRename && false) for (const',
  ),
  mend(
    'a call without a goal means the first one of today',
    `${CONVERSIONS}/resolve-goal.ts`,
    'if (first !== undefined && placeOf(first) < Infinity) return first',
    'if (first === undefined || placeOf(first) < Infinity) return offer.goals.find((goal) => !goal.isRetired)',
  ),
  mend(
    'the same report again means the first goal of today',
    `${CONVERSIONS}/resolve-goal.ts`,
    'if (same !== undefined && (report.transactionId !== null || click === null))',
    'if (same === null)',
  ),
  mend(
    'a reversal without a goal does not reach what its transaction has',
    `${CONVERSIONS}/resolve-goal.ts`,
    'if (confirmation.goal === null && hasOrder(click) && !isDenial(confirmation) && !isOnlyRecorded)',
    'if (confirmation.goal === null && hasOrder(click))',
  ),
  mend(
    'what is said of a dropped click is unmatched',
    `${CONVERSIONS}/dropped-clicks.ts`,
    'if (row.clickId !== null) dropped.clicks.set(row.clickId, row)',
    '',
  ),
  mend(
    'a call that names its transaction only is unmatched',
    `${CONVERSIONS}/dropped-clicks.ts`,
    'if (isOne) dropped.clicks.set(transactionKey(confirmation), first)',
    'if (isOne) dropped.ambiguous.delete(transactionKey(confirmation))',
  ),
  mend(
    'a line of a payment run is paid twice',
    'src/features/ledger/payment-runs.ts',
    "readPages(trx, runId, { status: 'due', publisherIds })",
    'readPages(trx, runId, { publisherIds })',
    LEDGER_MODEL,
  ),
  mend(
    'a payout beside a payment run pays what is due in the run',
    'src/features/ledger/payments.ts',
    'if (due !== undefined && leftMicros < due.amount_micros)',
    'if (due === null)',
    LEDGER_MODEL,
  ),
  mend(
    'a yes without an amount forgets the amount that was sent before',
    `${CONVERSIONS}/apply-confirmation.ts`,
    'if (isAdvertiserReported(standing) && confirmation.amountMicros === null) return updated',
    '',
  ),
  mend(
    'of two amounts the first counts',
    `${CONVERSIONS}/apply-confirmation.ts`,
    'const adopted = isFirst || isCorrection ? adopt(standing, confirmation, parts, moment.now) : noted',
    'const adopted = isFirst && !isCorrection ? adopt(standing, confirmation, parts, moment.now) : noted',
  ),
  mend(
    'an amount that is not used moves a conversion to another click',
    `${CONVERSIONS}/apply-confirmation.ts`,
    'const confirmation = paysShare(promised(parts)) ? sent : { ...sent, amountMicros: null }',
    'const confirmation = sent',
  ),
  mend(
    "a click gets its publisher's share of today",
    `${CONVERSIONS}/terms.ts`,
    'click === null ? app.sharePpm : (click.sharePpm ?? WHOLE_PPM)',
    'click === null ? app.sharePpm : app.sharePpm',
  ),
  mend(
    'the amount of a pending call about what was reported is lost',
    `${CONVERSIONS}/apply-confirmation.ts`,
    'const isFirst = !isAdvertiserReported(standing) && !isExpired(parts.click, confirmation.call.receivedAt)',
    'const isFirst = false',
  ),
  mend(
    'reported, pending in time, approved after the window: expired',
    `${CONVERSIONS}/apply-confirmation.ts`,
    "if (!isAdvertiserReported(standing) && isExpired(click, confirmation.call.receivedAt)) return reject('click_expired')",
    "if (standing.source === 'publisher' && isExpired(click, now)) return reject('click_expired')",
  ),
  mend(
    'what waited for its click is judged by when that came',
    `${CONVERSIONS}/decide-confirmation.ts`,
    'confirmationRefusal(parts, made, verdict, context, confirmation.call.receivedAt)',
    'confirmationRefusal(parts, made, verdict, context, now)',
  ),
  mend(
    'a hold of a banned user ends in approval',
    `${CONVERSIONS}/decide.ts`,
    'if (!context.banned.has(banKey(standing)))',
    'if (context.banned.size >= 0)',
  ),
  mend(
    'what was reversed can be done again, but is never paid again',
    `${CONVERSIONS}/finality.ts`,
    '!one.barsRedo && click !== null && one.reversedAt !== null && click.clickedAt >= one.reversedAt',
    '!one.barsRedo && click === null && one.reversedAt === null',
  ),
  mend(
    'what is over for good is done again',
    `${CONVERSIONS}/finality.ts`,
    "return to === 'reversed' && offer?.redoAfterReversal === false",
    'return offer === null',
  ),
  mend(
    'a fraud rejection is undone by another transaction',
    `${CONVERSIONS}/ended.ts`,
    'if (wasReported && !one.isRepeatable && isTurnedDown(one) && !confirmation.isAgain) return true',
    '',
  ),
  mend(
    "an operator's fraud decision is undone by another click",
    `${CONVERSIONS}/finality.ts`,
    "if (reason === 'fraud' && actor === 'operator') return true",
    '',
  ),
  mend(
    'an amount with five decimals loses its confirmation',
    `${CONVERSIONS}/inbound/parameters.ts`,
    'if (!amount.isNegative) return',
    "if (amount.micros % 100 !== 0) problems.push('amount')\n  if (!amount.isNegative) return",
  ),
  mend(
    'a negative amount loses its reversal',
    `${CONVERSIONS}/inbound/parameters.ts`,
    'if (isDenial) return {',
    "if (amount.isNegative) problems.push('amount')\n  if (isDenial) return {",
  ),
  mend(
    'an unclear amount loses a confirmation that does not need it',
    `${CONVERSIONS}/decide-confirmation.ts`,
    'if (confirmation.amountProblem && paysShare(promised(parts)))',
    'if (confirmation.amountProblem)',
  ),
  mend(
    'reports that no advertiser confirms stay for ever',
    `${CONVERSIONS}/decide-report.ts`,
    'conversion.confirmBy = later(moment.now, offer.confirmWithinS)',
    '',
  ),
  mend(
    'the books show what no advertiser confirmed as receivable',
    `${CONVERSIONS}/new-conversion.ts`,
    'isUnconfirmed: true,',
    'isUnconfirmed: false,',
  ),
  mend(
    'what a trusted publisher said stays unconfirmed in the books',
    `${CONVERSIONS}/apply-confirmation.ts`,
    'confirmedAt: moment.now,\n    isUnconfirmed: false,',
    'confirmedAt: moment.now,',
  ),
  mend(
    'an offer that rejects beyond its caps pays past its payout cap',
    CAPS,
    'isReached(cap, spent) || (cap !== null && spent + more > cap)',
    'isReached(cap, spent) || (cap !== null && spent > cap + more)',
  ),
  mend(
    'an offer that rejects beyond its caps lets its advertiser pay past the revenue cap',
    CAPS,
    'isPassed(caps.totalRevenueMicros, used.total.revenueMicros, revenueMicros)',
    'isReached(caps.totalRevenueMicros, used.total.revenueMicros)',
  ),
  mend(
    'an amount that is raised passes the payout cap',
    CAPS,
    "if (used === undefined || offer.overCap !== 'reject' || one.isTest) return false",
    "if (used !== undefined || offer.overCap !== 'reject' || one.isTest) return false",
  ),
  mend(
    'an amount that is raised on a later day passes the cap of its day',
    CAPS,
    '(used.earlier.get(day) ?? { payoutMicros: 0, revenueMicros: 0 })',
    '{ payoutMicros: -Infinity, revenueMicros: -Infinity }',
  ),
  mend(
    'a goal that turns repeatable makes second rows',
    `${CONVERSIONS}/resolve-goal.ts`,
    'return click.terms[goal.goalId]?.isRepeatable ?? (goal.isRepeatable && !wasOnce)',
    'return wasOnce === null ? false : goal.isRepeatable',
  ),
  mend(
    'a payment reference with another amount is taken for the same payment',
    'src/features/ledger/payments.ts',
    'if (before.amount_micros !== line.amountMicros) throw',
    'if (before.amount_micros === null) throw',
    LEDGER_MODEL,
  ),
  mend(
    'a conversion loses the sale of its click',
    `${CONVERSIONS}/new-conversion.ts`,
    'multiplierPpm: click.multiplierPpm',
    'multiplierPpm: null',
  ),
  mend(
    'a report without a click has no sale',
    `${CONVERSIONS}/new-conversion.ts`,
    'multipliedRate(app.rateMicros, app.multiplierPpm)',
    'multipliedRate(app.rateMicros, null)',
  ),
  mend(
    'rewards of a click are rounded by the rule of today',
    `${CONVERSIONS}/new-conversion.ts`,
    'rounding: click.rounding',
    'rounding: null',
  ),
  mend(
    'debits at once take more than the balance',
    'src/features/users/balances.ts',
    'await lockUser(trx, user)',
    'if (user === null) await lockUser(trx, user)',
    'src/features/users/balances.test.ts',
  ),
  mend(
    'an entry that is committed late is in no sum of a balance',
    'src/db/settled-ids.ts',
    'if (rows[0]?.ended) return',
    'if (rows[0]) return',
    'src/features/users/balances.test.ts',
  ),
  mend(
    'a banned user who is erased is paid for what was clicked before',
    'src/features/apps/bans.ts',
    'WHERE b.user_id = ${userId} AND',
    'WHERE b.user_id = ${userId} AND false AND',
    'test/privacy/banned.test.ts',
  ),
  mend(
    'the payout of a goal that was translated no longer follows its feed',
    'src/features/feeds/pinned-fields.ts',
    '[feedGoals(shown), feedGoals(applied)]',
    "[shown['goals'] as ShownRecord[], applied['goals'] as ShownRecord[]]",
    'src/features/feeds/run.test.ts',
  ),
  mend(
    'an edit that is taken back by hand does not follow the feed',
    'src/features/feeds/plan.ts',
    "hash: held === null && unapplied.length === 0 ? one.hash : ''",
    "hash: held === null ? one.hash : ''",
    'src/features/feeds/pins.test.ts',
  ),
  mend(
    'a payout that was edited follows the feed again without approval, however much it is',
    'src/features/feeds/plan.ts',
    'isPinned ? one.paid_before : paid',
    'paid',
    'src/features/feeds/held.test.ts',
  ),
  mend(
    'an approval counts for later changes, too',
    'src/features/feeds/apply.ts',
    'CASE WHEN f.approved_paid IS DISTINCT FROM k.approved THEN f.approved_paid END',
    'f.approved_paid',
    'src/features/feeds/held.test.ts',
  ),
]
