import type { Schemas } from './api-types.ts'

export { type CreateOptions, type DebitOptions, Offerdeck } from './client.ts'
export type { CallOptions, ClientOptions } from './call.ts'
export { type ErrorCode, OfferdeckError } from './errors.ts'
export type { ConversionEvent, FeedEntry, FeedOptions } from './events.ts'
export {
  type GetPostback,
  InvalidPostbackError,
  type PostbackHeaders,
  type PostbackProblem,
  type PostPostback,
  verifyPostback,
  verifySignedUrl,
} from './postbacks.ts'
export { type SignedWallUser, signWallUser, type WallUser } from './wall.ts'
export type BalanceEntry = Schemas['BalanceEntry']
export type Conversion = Schemas['Conversion']
export type Goal = Schemas['Goal']
export type NewConversion = Schemas['NewConversion']
export type Offer = Schemas['Offer']
export type Postback = Schemas['Postback']
export type Stats = Schemas['Stats']
