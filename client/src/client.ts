import {
  type Body,
  type Call,
  type CallOptions,
  type ClientOptions,
  createCall,
  type Query,
  type Reply,
} from './call.ts'
import { type FeedEntry, type FeedOptions, readFeed } from './events.ts'

/**
 * The API of an Offerdeck network, for a publisher's server. Every method resolves with the `data` of the response, or
 * rejects with an `OfferdeckError`.
 */
export class Offerdeck {
  readonly offers: Offers
  readonly conversions: Conversions
  readonly users: Users
  readonly lockers: Lockers
  readonly postbacks: Postbacks
  readonly #call: Call

  constructor(options: ClientOptions) {
    this.#call = createCall(options)
    this.offers = new Offers(this.#call)
    this.conversions = new Conversions(this.#call)
    this.users = new Users(this.#call)
    this.lockers = new Lockers(this.#call)
    this.postbacks = new Postbacks(this.#call)
  }

  /** Every change of every conversion, oldest first, from a cursor on. */
  events(options?: FeedOptions): AsyncGenerator<FeedEntry, void, undefined> {
    return readFeed(this.#call, options)
  }

  /** Clicks, conversions and payout, by day, offer, country, platform or sub-ID. */
  stats(query: Query<'GET /stats'> = {}, options?: CallOptions): Promise<Reply<'GET /stats'>> {
    return this.#call('GET /stats', { query }, options)
  }
}

class Offers {
  readonly #call: Call

  constructor(call: Call) {
    this.#call = call
  }

  /** The offers that a user can complete, with a link for each. */
  list(query: Query<'GET /offers'>, options?: CallOptions): Promise<Reply<'GET /offers'>> {
    return this.#call('GET /offers', { query }, options)
  }

  /** One offer, with the link for a user. */
  get(
    offerId: number,
    query: Query<'GET /offers/{offer_id}'>,
    options?: CallOptions,
  ): Promise<Reply<'GET /offers/{offer_id}'>> {
    return this.#call('GET /offers/{offer_id}', { path: { offer_id: String(offerId) }, query }, options)
  }

  /** Why a user sees an offer, or does not. */
  explain(
    offerId: number,
    query: Query<'GET /offers/{offer_id}/why'>,
    options?: CallOptions,
  ): Promise<Reply<'GET /offers/{offer_id}/why'>> {
    return this.#call('GET /offers/{offer_id}/why', { path: { offer_id: String(offerId) }, query }, options)
  }
}

export type CreateOptions = CallOptions & {
  /** Of your own, if you may repeat the call yourself, within 24 hours. Without it the client creates one per call. */
  idempotencyKey?: string | undefined
}

class Conversions {
  readonly #call: Call

  constructor(call: Call) {
    this.#call = call
  }

  /** Reports that a user completed an offer. It is recorded once, however often the client had to send it. */
  create(
    body: Body<'POST /conversions'>,
    { idempotencyKey = crypto.randomUUID(), ...options }: CreateOptions = {},
  ): Promise<Reply<'POST /conversions'>> {
    return this.#call('POST /conversions', { body, idempotencyKey }, options)
  }

  /** A page of conversions, newest first. */
  list(query: Query<'GET /conversions'> = {}, options?: CallOptions): Promise<Reply<'GET /conversions'>> {
    return this.#call('GET /conversions', { query }, options)
  }

  get(conversionId: string, options?: CallOptions): Promise<Reply<'GET /conversions/{conversion_id}'>> {
    return this.#call('GET /conversions/{conversion_id}', { path: { conversion_id: conversionId } }, options)
  }
}

export type DebitOptions = CallOptions & {
  /** Unique for each debit, such as the ID of an order: however often you call with it, the amount is taken once. */
  idempotencyKey: string
}

class Users {
  readonly #call: Call

  constructor(call: Call) {
    this.#call = call
  }

  /** The balance that the network keeps for a user, and a page of its entries. */
  get(
    userId: string,
    query: Query<'GET /users/{userId}'> = {},
    options?: CallOptions,
  ): Promise<Reply<'GET /users/{userId}'>> {
    return this.#call('GET /users/{userId}', { path: { userId }, query }, options)
  }

  /** Takes an amount from the balance of a user. */
  debit(
    userId: string,
    body: Body<'POST /users/{userId}/debits'>,
    { idempotencyKey, ...options }: DebitOptions,
  ): Promise<Reply<'POST /users/{userId}/debits'>> {
    return this.#call('POST /users/{userId}/debits', { path: { userId }, body, idempotencyKey }, options)
  }
}

class Lockers {
  readonly #call: Call

  constructor(call: Call) {
    this.#call = call
  }

  /** Redeems the proof of a visitor who unlocked a content locker: `redeemed` is true the first time only. */
  redeem(lockerId: number, proof: string, options?: CallOptions): Promise<Reply<'POST /lockers/{locker_id}/redeem'>> {
    const path = { locker_id: String(lockerId) }
    return this.#call('POST /lockers/{locker_id}/redeem', { path, body: { proof } }, options)
  }
}

class Postbacks {
  readonly #call: Call

  constructor(call: Call) {
    this.#call = call
  }

  /** A page of postbacks, newest first, with their delivery status. */
  list(query: Query<'GET /postbacks'> = {}, options?: CallOptions): Promise<Reply<'GET /postbacks'>> {
    return this.#call('GET /postbacks', { query }, options)
  }

  /** One postback with every attempt. */
  get(postbackId: string, options?: CallOptions): Promise<Reply<'GET /postbacks/{postback_id}'>> {
    return this.#call('GET /postbacks/{postback_id}', { path: { postback_id: postbackId } }, options)
  }

  /** Resends a postback, with the same `webhook-id`. */
  replay(postbackId: string, options?: CallOptions): Promise<Reply<'POST /postbacks/{postback_id}/replay'>> {
    return this.#call('POST /postbacks/{postback_id}/replay', { path: { postback_id: postbackId } }, options)
  }

  /** Sends sample postbacks of each kind, or of those given, to your own URL. */
  test(body: Body<'POST /postback-tests'> = {}, options?: CallOptions): Promise<Reply<'POST /postback-tests'>> {
    return this.#call('POST /postback-tests', { body }, options)
  }

  /** How your server responded to the sample postbacks. */
  getTest(testId: string, options?: CallOptions): Promise<Reply<'GET /postback-tests/{test_id}'>> {
    return this.#call('GET /postback-tests/{test_id}', { path: { test_id: testId } }, options)
  }
}
