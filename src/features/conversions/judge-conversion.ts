// Applies the bans and the fraud rules of the context to a conversion.
import type { Conversion } from './conversions.ts'
import type { DecisionContext } from './decision-context.ts'
import { judge, type Verdict } from './fraud.ts'
import { addressCountKey, banKey, userCountKey } from './keys.ts'
import type { ClickSnapshot } from './read-clicks.ts'

/** For a conversion that is about to be created or confirmed. */
export function judgeConversion(
  made: Conversion,
  click: ClickSnapshot | null,
  country: string | null,
  context: DecisionContext,
  reportedAt: Date,
): Verdict {
  if (context.banned.has(banKey(made))) return { action: 'reject', reason: 'fraud', signals: ['banned_user'] }
  const isNew = context.conversions.get(made.conversionId) === undefined
  return judge(context.rules, made.offerId, {
    secondsFromClick: click === null ? null : (reportedAt.getTime() - click.clickedAt.getTime()) / 1000,
    usersOfAddress: 1 + (click === null ? 0 : (context.counts.get(addressCountKey(click)) ?? 0)),
    conversionsOfUser: (isNew ? 1 : 0) + (context.counts.get(userCountKey(made)) ?? 0),
    clickCountry: click?.country ?? null,
    conversionCountry: country,
    // A click that was dropped has none; the conversion keeps those that had a rule.
    clickSignals: [...(click?.signals ?? []), ...made.signals],
  })
}
