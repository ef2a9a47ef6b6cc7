// Offers for a catalogue without a database: as PostgreSQL would send them.
import { CopiedRow } from '../src/db/copy-rows.ts'
import { DETAIL_COLUMNS } from '../src/features/offers/offer-bytes.ts'
import { OfferReader, type OfferRow } from '../src/features/offers/offer-rows.ts'
import type { Category, Platform } from '../src/features/offers/choices.ts'

export type OfferRecord = {
  offerId: number
  name: string
  description: string
  category: Category
  payoutMicros: number
  countries: string[]
  platforms: Platform[]
  paymentRequired: boolean
  status: string
  startsAt: Date | null
  endsAt: Date | null
  fullUntilMs: number | null
  popularity: number
  /** In recommended lists: per cent, and 0 where it is excluded. */
  boostPercent?: number
  pin?: number
  createdAt: Date
  changedXid: number
}

/** A field in the binary COPY format. */
type Field = Buffer | null

const YEAR_2000_MS = 946_684_800_000

const text = (value: string): Field => Buffer.from(value)
const bool = (value: boolean): Field => Buffer.from([value ? 1 : 0])
const int4 = (value: number): Field => numbers(value)
const int8 = (value: number): Field => {
  const bytes = Buffer.alloc(8)
  bytes.writeBigInt64BE(BigInt(value))
  return bytes
}
const time = (ms: number | null): Field => (ms === null ? null : int8((ms - YEAR_2000_MS) * 1_000))
const texts = (values: string[]): Field =>
  values.length === 0
    ? numbers(0, 0, 25)
    : Buffer.concat([numbers(1, 0, 25, values.length, 1), ...values.map((value) => fieldBytes(text(value)))])

function numbers(...values: number[]): Buffer {
  const bytes = Buffer.alloc(values.length * 4)
  values.forEach((value, i) => bytes.writeInt32BE(value, i * 4))
  return bytes
}

const fieldBytes = (field: Field) => (field === null ? numbers(-1) : Buffer.concat([numbers(field.length), field]))

/** What an offer has besides; a text that is missing here is null. */
const detailsOf = (offer: OfferRecord): Record<string, Field> => ({
  name: text(offer.name),
  description: text(offer.description),
  destination_url: text('https://ads.example.com/'),
  requirements: text('New users only'),
  terms_id: int8(1),
  payout_micros: int8(offer.payoutMicros),
  updated_at: time(offer.createdAt.getTime()),
  difficulty: text('easy'),
  conversion_type: text('cpa'),
})

/** The offer as the catalogue accepts it. */
export function rowOf(offer: OfferRecord): OfferRow {
  const details = detailsOf(offer)
  const fields = [
    int8(offer.offerId),
    int8(offer.changedXid),
    int4(offer.popularity),
    int4(offer.boostPercent ?? 100),
    int4(offer.pin ?? 0),
    int8(offer.payoutMicros),
    time(offer.createdAt.getTime()),
    bool(offer.status === 'active'),
    bool(false), // behind another one
    time(offer.startsAt?.getTime() ?? null),
    time(offer.endsAt?.getTime() ?? null),
    time(offer.fullUntilMs),
    text(offer.category),
    texts(offer.platforms),
    bool(offer.paymentRequired),
    texts(offer.countries),
    ...DETAIL_COLUMNS.map((column) => details[column] ?? null),
  ]
  const row = new CopiedRow()
  row.reset(Buffer.concat(fields.map(fieldBytes)), 0)
  return new OfferReader().takeOffer(row)
}
