// What must not compile: calls that the API does not take. Checked with the types of the tests.
import { type ErrorCode, type Offerdeck, type OfferdeckError, verifyPostback } from '../../client/src/index.ts'
import type { ERRORS } from '../../src/errors.ts'

export const wrong = [
  // @ts-expect-error the user is missing
  (api: Offerdeck) => api.offers.list({ country: 'US' }),
  // @ts-expect-error an unknown parameter
  (api: Offerdeck) => api.offers.list({ userId: 'u', colour: 'red' }),
  // @ts-expect-error a value that the parameter does not have
  (api: Offerdeck) => api.conversions.list({ status: 'gone' }),
  // @ts-expect-error a field of another type
  (api: Offerdeck) => api.conversions.create({ userId: 'u', offerId: '58' }),
  // @ts-expect-error a debit without a key
  (api: Offerdeck) => api.users.debit('u', { amount: 1 }),
  // @ts-expect-error a reply is what its operation replies
  async (api: Offerdeck) => (await api.offers.get(58, { userId: 'u' })).offers,
  // @ts-expect-error a code that there is not
  (error: OfferdeckError) => error.code === 'NOT_FOUND',
  // @ts-expect-error a postback is verified by its body or its URL
  () => verifyPostback({ headers: {}, secrets: 'whsec_' }),
  // @ts-expect-error without awaiting it, there is no event
  () => verifyPostback({ headers: {}, body: '', secrets: 'whsec_' }).data,
]

/** The client knows every code of the API. */
export const known = (code: keyof typeof ERRORS): ErrorCode => code
