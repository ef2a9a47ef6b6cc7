// What comes of a command. Pure: everything it needs is in the facts, the time is an argument, ids come from `makeId`.
//
//              +--> rejected              final, never paid
// pending -----+
//    |         +--> approved --> reversed final, taken back
//    +--- hold_until passes ---^
//
// A publisher's word makes a pending conversion. An advertiser's confirmation adopts it, or makes one; the click it names
// holds what was promised. What is rejected leaves its place to another; everything else keeps it for good.
import type { Command, Move, Release } from './commands.ts'
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
  }
}

function decideMove({ conversionId, to, reason = 'operator' }: Move, facts: Facts, moment: Moment): Decision {
  const standing = facts.conversions.get(conversionId)
  if (standing === undefined) return refuse('no_conversion')
  if (standing.status === to) return duplicate(standing)
  const isLegal = to === 'reversed' ? standing.status === 'approved' : standing.status === 'pending'
  if (!isLegal) return { outcome: { kind: 'illegal', conversion: standing }, change: null }
  return move(standing, standing, to, reason, 'operator', moment)
}

function decideRelease({ conversionId }: Release, facts: Facts, moment: Moment): Decision {
  const standing = facts.conversions.get(conversionId)
  if (standing === undefined) return refuse('no_conversion')
  const isDue = standing.status === 'pending' && standing.hold_until !== null && standing.hold_until <= moment.now
  return isDue ? move(standing, standing, 'approved', null, 'system', moment) : duplicate(standing)
}
