// The shapes of tickets, for the wall and for the publisher's people.
import { type Static, Type } from 'typebox'
import { NextCursor, UUID_PAGE_QUERY } from '../../http/paging.ts'
import { pattern } from '../../http/forms.ts'
import { oneOf, shape } from '../../http/shape.ts'
import { LINE, NOT_BLANK, SAFE_TEXT } from '../../http/validation.ts'
import { MAX_IMAGE_BYTES, MAX_IMAGE_PIXELS } from '../../lib/image-format.ts'
import { Lang } from '../offers/schema.ts'
import { LiveQuery } from './schema.ts'
import { LANGUAGES } from '../../lib/languages.ts'

export const TICKET_KINDS = ['not_credited', 'question', 'other'] as const
export const TICKET_STATUSES = ['open', 'answered', 'closed'] as const

/** JSON with an image in base64. */
export const MAX_TICKET_BODY = 2 * MAX_IMAGE_BYTES

const time = Type.String({ format: 'date-time' })
const orNull = <S extends Parameters<typeof Type.Union>[0][number]>(one: S) => Type.Union([one, Type.Null()])

export const SubmitKey = Type.String({
  pattern: pattern('UUID'),
  description: 'New UUID for each submission; repeating a submission changes nothing.',
})
export const MessageText = Type.String({ minLength: 1, maxLength: 2_000, format: SAFE_TEXT, pattern: NOT_BLANK })

const EXACT = { additionalProperties: false }
const newMessage = {
  key: SubmitKey,
  text: MessageText,
  image: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: MAX_TICKET_BODY,
      description: `A PNG, JPEG, WebP or GIF in base64: at most 1 MB, and ${MAX_IMAGE_PIXELS} pixels on each side. Only the user and the publisher can see it.`,
    }),
  ),
}

export const NewTicketMessage = shape('NewWallTicketMessage', newMessage, EXACT)
export type NewTicketMessage = Static<typeof NewTicketMessage>

export const NewTicket = shape(
  'NewWallTicket',
  {
    ...newMessage,
    kind: oneOf(TICKET_KINDS),
    offer_id: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: Number.MAX_SAFE_INTEGER,
        description: 'An offer that the user has started. The server adds the click.',
      }),
    ),
    email: Type.Optional(
      Type.String({
        maxLength: 254,
        format: LINE,
        pattern: pattern('EMAIL'),
        description: 'Email address to which answers are also sent.',
      }),
    ),
    lang: Type.Optional(oneOf(LANGUAGES, { description: 'Language of the wall, used for emails.' })),
  },
  EXACT,
)
export type NewTicket = Static<typeof NewTicket>

export const WallTicket = shape('WallTicket', {
  ticket_id: Type.String(),
  kind: oneOf(TICKET_KINDS),
  offer_id: orNull(Type.Integer()),
  offer_name: orNull(Type.String()),
  status: oneOf(TICKET_STATUSES, { description: '`open`: waiting for an answer.' }),
  created_at: time,
  updated_at: time,
  messages: Type.Array(
    Type.Object({
      message_id: Type.String(),
      is_mine: Type.Boolean({ description: 'True for messages of the user, false for answers.' }),
      text: Type.String(),
      has_image: Type.Boolean(),
      created_at: time,
    }),
    { description: 'Oldest first.' },
  ),
})
export type WallTicket = Static<typeof WallTicket>

export const WallTicketReply = shape('WallTicketReply', { ticket: WallTicket })
export const WallTicketList = shape('WallTicketList', {
  tickets: Type.Array(WallTicket, { description: 'Newest first.' }),
  next_cursor: NextCursor,
})
export type WallTicketList = Static<typeof WallTicketList>

export const TicketImage = shape('TicketImage', {
  type: Type.String({ description: 'Media type such as image/png.' }),
  content: Type.String({ description: 'Image in base64.' }),
})

export const TicketQuery = Type.Object({ ...LiveQuery.properties, lang: Lang })
export type TicketQuery = Static<typeof TicketQuery>
export const TicketListQuery = Type.Object({ ...TicketQuery.properties, ...UUID_PAGE_QUERY })
export type TicketListQuery = Static<typeof TicketListQuery> & { limit: number }

export const TicketParams = Type.Object({ ticket_id: Type.String({ description: 'ID of the ticket.' }) })
export const MessageParams = Type.Object({
  ...TicketParams.properties,
  message_id: Type.String({ description: 'ID of a message with an image.' }),
})
