// The shapes of what a publisher may do.
import { Type } from 'typebox'
import { PUBLISHER_STATUSES } from '../../../features/apps/permissions.ts'
import { id, oneOf, text } from '../../shapes.ts'
import { shape } from '../../../http/shape.ts'

const Offers = Type.Array(id, { maxItems: 10_000 })

export const Permissions = shape('Permissions', {
  status: oneOf(PUBLISHER_STATUSES),
  margin_percent: Type.Number({ description: 'Percentage of offer payouts that the network keeps.' }),
  only_listed_offers: Type.Boolean(),
  allowed_offers: Offers,
  denied_offers: Offers,
  offer_names: Type.Array(Type.Object({ offer_id: id, name: Type.String() }), {
    description: 'Names of the offers in both lists.',
  }),
  version: Type.String({
    description: 'Changes with every change of the permissions. Send it as `seen_version` when you save.',
  }),
})

export const NewPermissions = shape('ChangedPermissions', {
  status: Type.Optional(oneOf(PUBLISHER_STATUSES)),
  margin_percent: Type.Optional(
    Type.Number({
      minimum: 0,
      maximum: 100,
      description: 'Percentage of offer payouts that the network keeps, at most 4 decimals.',
    }),
  ),
  offers: Type.Optional(
    Type.Object(
      { only_listed: Type.Boolean(), allowed: Offers, denied: Offers },
      { description: 'Replaces the current offer rules.' },
    ),
  ),
  seen_version: Type.Optional(
    text(100, 'The `version` you read. If the permissions have changed since, nothing is saved (409).'),
  ),
})
