// What the server wrote into the page.
import type { Static } from 'typebox'
import type { Activity, PageViewer, WallOffer, WallOfferList } from '../../src/features/wall/schema.ts'
import type { TicketImage, WallTicket, WallTicketList } from '../../src/features/wall/ticket-schema.ts'
import type { WallSettings } from '../../src/features/wall/settings-schema.ts'
import type { NumberStyle } from '../../src/features/wall/texts/numbers.ts'
import type { Texts } from '../../src/features/wall/texts/en.ts'

export type Offer = Static<typeof WallOffer>
export type OfferList = Static<typeof WallOfferList>
export type ActivityPage = Static<typeof Activity>
export type Started = ActivityPage['started'][number]
export type Earned = ActivityPage['items'][number]
export type Ticket = WallTicket
export type TicketList = WallTicketList
export type Image = Static<typeof TicketImage>

type Look = Pick<WallSettings, 'logo' | 'hero' | 'currency_icon' | 'title' | 'intro' | 'shows'> & {
  texts: Texts
  language: string
  numbers: NumberStyle
  currency: string
}

const read = <T>(id: string) => JSON.parse(document.getElementById(id)?.textContent ?? 'null') as T

export const look = read<Look>('look')
export const viewer = read<PageViewer>('viewer')
export const firstOffers = read<OfferList>('offers')
// Links come without their token, which is the same for all of them.
for (const offer of firstOffers.offers) offer.link += viewer.token
