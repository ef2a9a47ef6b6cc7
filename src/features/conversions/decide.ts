// Decides a command. Pure: everything it needs is in the context, the time is an argument, ids come from `newId`.
//
//              +--> rejected              final, never paid
// pending -----+
//    |         +--> approved --> reversed final, charged back
//    +--- holdUntil passes  ---^
//
// A publisher's report creates a pending conversion, which expires unless the advertiser reports it in time. An
// advertiser's confirmation adopts it, or creates one; its click holds what was promised. A rejected or reversed conversion
// frees its place for another, unless finality.ts says otherwise.
import type { Command, Expire, Move, Release } from './commands.ts'
import { decideConfirmation } from './decide-confirmation.ts'
import { decideReport } from './decide-report.ts'
import type { DecisionContext } from './decision-context.ts'
import { banKey } from './keys.ts'
import { type Decision, duplicate, type Moment, move, refuse } from './outcomes.ts'

export function decide(command: Command, context: DecisionContext, moment: Moment): Decision {
  switch (command.kind) {
    case 'report':
      return decideReport(command, context, moment)
    case 'confirmation':
      return decideConfirmation(command, context, moment)
    case 'move':
      return decideMove(command, context, moment)
    case 'release':
      return decideRelease(command, context, moment)
    case 'expire':
      return decideExpiry(command, context, moment)
  }
}

function decideMove(
  { conversionId, to, reason = 'operator' }: Move,
  context: DecisionContext,
  moment: Moment,
): Decision {
  const standing = context.conversions.get(conversionId)
  if (standing === undefined) return refuse('no_conversion')
  if (standing.status === to) return duplicate(standing)
  const isLegal = to === 'reversed' ? standing.status === 'approved' : standing.status === 'pending'
  if (!isLegal) return { outcome: { kind: 'illegal', conversion: standing }, change: null }
  const offer = context.offers.get(standing.offerId)
  return move(standing, standing, { to, reason, actor: 'operator' }, offer, moment)
}

function decideRelease({ conversionId }: Release, context: DecisionContext, moment: Moment): Decision {
  const standing = context.conversions.get(conversionId)
  if (standing === undefined) return refuse('no_conversion')
  const isDue = standing.status === 'pending' && standing.holdUntil !== null && standing.holdUntil <= moment.now
  if (!isDue) return duplicate(standing)
  const offer = context.offers.get(standing.offerId)
  if (!context.banned.has(banKey(standing)))
    return move(standing, standing, { to: 'approved', reason: null, actor: 'system' }, offer, moment)
  const flagged = { ...standing, signals: [...new Set([...standing.signals, 'banned_user'])] }
  return move(standing, flagged, { to: 'rejected', reason: 'fraud', actor: 'system' }, offer, moment)
}

function decideExpiry({ conversionId }: Expire, context: DecisionContext, moment: Moment): Decision {
  const standing = context.conversions.get(conversionId)
  if (standing === undefined) return refuse('no_conversion')
  const isDue = standing.status === 'pending' && standing.confirmBy !== null && standing.confirmBy <= moment.now
  if (!isDue) return duplicate(standing)
  const offer = context.offers.get(standing.offerId)
  return move(standing, standing, { to: 'rejected', reason: 'unconfirmed', actor: 'system' }, offer, moment)
}
