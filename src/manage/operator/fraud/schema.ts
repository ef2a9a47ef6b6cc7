// The shapes of signals of fraud and the rules about them.
import { Type } from 'typebox'
import { ACTIONS, SIGNALS } from '../../../features/conversions/fraud.ts'
import { NextCursor } from '../../../http/paging.ts'
import { id, oneOf, orNull } from '../../shapes.ts'
import { shape } from '../../../http/shape.ts'

const Seen = Type.Integer({ description: 'Conversions with this signal in the last 30 days.' })

export const FraudOverview = shape('FraudOverview', {
  signals: Type.Array(
    Type.Object({
      signal: oneOf(SIGNALS),
      meaning: Type.String(),
      threshold_of: orNull(Type.String({ description: 'What the threshold counts; null if there is none.' })),
      seen: Seen,
    }),
  ),
  rules: Type.Array(
    Type.Object({
      signal: oneOf(SIGNALS),
      offer_id: orNull(id),
      offer: orNull(Type.String()),
      threshold: orNull(Type.Integer()),
      action: oneOf(ACTIONS),
      seen: Seen,
    }),
    { description: "An offer's own rule takes precedence over the network's rule for the same signal." },
  ),
  next_cursor: NextCursor,
})

export const NewRule = shape('NewFraudRule', {
  signal: oneOf(SIGNALS),
  offer_id: Type.Optional(orNull(id)),
  threshold: Type.Optional(orNull(Type.Integer({ minimum: 1, maximum: 1_000_000_000 }))),
  action: oneOf(ACTIONS),
})

export const RuleParams = Type.Object({ signal: Type.String() })
export const RuleQuery = Type.Object({ offer_id: Type.Optional(id) })
