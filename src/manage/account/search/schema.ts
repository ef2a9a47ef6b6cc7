// The shapes of the search over everything.
import { type Static, Type } from 'typebox'
import { STATUSES } from '../../../features/conversions/conversions.ts'
import { shape } from '../../../http/shape.ts'
import { NOT_BLANK } from '../../../http/validation.ts'
import { freeText, id, oneOf, Time } from '../../shapes.ts'

export const SearchQuery = Type.Object({
  q: {
    ...freeText(
      256,
      'Part of a name, or an ID. For a conversion: its ID, user ID or transaction ID, or the ID of a request, click, callback or postback, in full.',
    ),
    pattern: NOT_BLANK,
  },
  app_id: Type.Optional({
    ...id,
    description: 'App whose offers are searched, for people of a publisher. Defaults to their first app.',
  }),
})

export const FoundConversion = Type.Object({
  conversion_id: Type.String(),
  app_id: id,
  app: Type.String(),
  offer: Type.String(),
  user_id: Type.String(),
  status: oneOf(STATUSES),
  is_test: Type.Boolean(),
  created_at: Time,
  matched: oneOf(
    ['id', 'user', 'transaction', 'request'],
    'What matched the text. `request` also stands for a click, callback or postback.',
  ),
})
export type FoundConversion = Static<typeof FoundConversion>

/** A few of each kind, at most. */
export const SearchResults = shape('SearchResults', {
  publishers: Type.Array(Type.Object({ publisher_id: id, name: Type.String() }), {
    description: 'Only for operators.',
  }),
  advertisers: Type.Array(Type.Object({ advertiser_id: id, name: Type.String() }), {
    description: 'Only for operators.',
  }),
  apps: Type.Array(Type.Object({ app_id: id, name: Type.String(), publisher_id: id, publisher: Type.String() })),
  offers: Type.Array(
    Type.Object({
      offer_id: id,
      name: Type.String(),
      app_id: Type.Union([id, Type.Null()], { description: 'App whose users see the offer; null for operators.' }),
    }),
  ),
  conversions: Type.Array(FoundConversion),
})
