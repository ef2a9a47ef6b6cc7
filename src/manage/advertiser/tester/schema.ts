// The shapes of testing an advertiser's postback.
import { type Static, Type } from 'typebox'
import { STATUSES } from '../../../features/conversions/conversions.ts'
import { shape } from '../../../http/shape.ts'
import { OUTCOMES } from '../../callback-shapes.ts'
import { id, oneOf, orNull, Time } from '../../shapes.ts'

export const NewPostbackTest = shape('NewAdvertiserTest', { offer_id: id })
export const StartedPostbackTest = shape('StartedAdvertiserTest', {
  test_id: Type.String(),
  link: Type.String({ description: 'Open it in a browser to make a test click. It leads to your offer.' }),
})

export const PostbackTestParams = Type.Object({ advertiser_id: id, test_id: Type.String({ maxLength: 50 }) })
export const PostbackTest = shape('AdvertiserTest', {
  test_id: Type.String(),
  click: orNull(
    Type.Object({
      click_id: Type.String(),
      clicked_at: Time,
      offer_id: id,
      callback_url: Type.String({ description: 'URL for your system to call, with a placeholder for the token.' }),
    }),
  ),
  call: orNull(
    Type.Object(
      {
        received_at: Time,
        method: Type.String(),
        query: Type.String({ description: 'Query as received, with the token masked.' }),
        outcome: oneOf(OUTCOMES),
        reason: orNull(Type.String()),
        is_understood: Type.Boolean({ description: 'Whether token, parameters and click are valid.' }),
      },
      { description: 'Latest callback for this click.' },
    ),
  ),
  conversion: orNull(
    Type.Object({ conversion_id: Type.String(), status: oneOf(STATUSES), goal: Type.String(), spend: Type.Number() }),
  ),
})
export type PostbackTest = Static<typeof PostbackTest>
