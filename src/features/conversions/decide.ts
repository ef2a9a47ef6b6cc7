// What comes of a command. Pure: everything it needs is in the facts, the time is an argument, ids come from `makeId`.
//
//              +--> rejected              final, never paid
// pending -----+
//    |         +--> approved --> reversed final, taken back
//    +--- hold_until passes ---^
//
// A publisher's word makes a pending conversion, which expires unless the advertiser tells of it in time. An advertiser's
// confirmation adopts it, or makes one; the click it names holds what was promised. What is rejected or reversed leaves its
// place to another, unless finality.ts says otherwise.
import type { Command, Expire, Move, Release } from './commands.ts'
import { decideConfirmation } from './decide-confirmation.ts'
import { decideReport } from './decide-report.ts'
import type { Facts } from './facts.ts'
import { type Decision, duplicate, type Moment, move, refuse } from './making.ts'

export function decide(command: Command, facts: Facts, moment: Moment): Decision {
  switch (command.kind) {
    case 'report':
      return decideReport(command, facts, moment)
    case 'confirmation':
      return decideConfirmation(command, facts, moment)
    case 'move':
      return decideMove(command, facts, moment)
    case 'release':
      return decideRelease(command, facts, moment)
    case 'expire':
      return decideExpiry(command, facts, moment)
  }
}

function decideMove({ conversionId, to, reason = 'operator' }: Move, facts: Facts, moment: Moment): Decision {
  const standing = facts.conversions.get(conversionId)
  if (standing === undefined) return refuse('no_conversion')
  if (standing.status === to) return duplicate(standing)
  const isLegal = to === 'reversed' ? standing.status === 'approved' : standing.status === 'pending'
  if (!isLegal) return { outcome: { kind: 'illegal', conversion: standing }, change: null }
  const offer = facts.offers.get(standing.offer_id)
  return move(standing, standing, { to, reason, actor: 'operator' }, offer, moment)
}

function decideRelease({ conversionId }: Release, facts: Facts, moment: Moment): Decision {
  const standing = facts.conversions.get(conversionId)
  if (standing === undefined) return refuse('no_conversion')
  const isDue = standing.status === 'pending' && standing.hold_until !== null && standing.hold_until <= moment.now
  if (!isDue) return duplicate(standing)
  const offer = facts.offers.get(standing.offer_id)
  if (!facts.banned.has(`${standing.app_id}|${standing.user_id}`))
    return move(standing, standing, { to: 'approved', reason: null, actor: 'system' }, offer, moment)
  const flagged = { ...standing, signals: [...new Set([...standing.signals, 'banned_user'])] }
  return move(standing, flagged, { to: 'rejected', reason: 'fraud', actor: 'system' }, offer, moment)
}

function decideExpiry({ conversionId }: Expire, facts: Facts, moment: Moment): Decision {
  const standing = facts.conversions.get(conversionId)
  if (standing === undefined) return refuse('no_conversion')
  const isDue = standing.status === 'pending' && standing.confirm_by !== null && standing.confirm_by <= moment.now
  if (!isDue) return duplicate(standing)
  const offer = facts.offers.get(standing.offer_id)
  return move(standing, standing, { to: 'rejected', reason: 'unconfirmed', actor: 'system' }, offer, moment)
}
