// Tickets of an app's users, for the people of its publisher.
import { type Static, Type } from 'typebox'
import { STATUSES } from '../../../features/conversions/conversions.ts'
import { answerTicket, setTicketStatus } from '../../../features/wall/ticket-answers.ts'
import { countOpenTickets, listTickets, readTicket } from '../../../features/wall/ticket-list.ts'
import {
  MessageText,
  SubmitKey,
  TICKET_KINDS,
  TICKET_STATUSES,
  TicketImage,
} from '../../../features/wall/ticket-schema.ts'
import { readTicketImage } from '../../../features/wall/tickets.ts'
import { NextCursor, UUID_PAGE_QUERY } from '../../../http/paging.ts'
import { shape } from '../../../http/shape.ts'
import type { ManageContext } from '../../context.ts'
import type { ManageRoutes } from '../../route.ts'
import { AppParams, freeText, id, oneOf, orNull, Time } from '../../shapes.ts'

const TAG = 'Wall of an app'

const TicketParams = Type.Object({ app_id: id, ticket_id: Type.String() })
const ImageParams = Type.Object({ ...TicketParams.properties, message_id: Type.String() })

const listed = {
  ticket_id: Type.String(),
  user_id: Type.String(),
  kind: oneOf(TICKET_KINDS),
  offer_id: orNull(id),
  offer_name: orNull(Type.String()),
  status: oneOf(TICKET_STATUSES, '`open`: waiting for your answer.'),
  country: orNull(Type.String()),
  device: orNull(Type.String()),
  os: orNull(Type.String()),
  created_at: Time,
  updated_at: Time,
}
const TicketList = shape('TicketList', {
  tickets: Type.Array(Type.Object(listed), { description: 'Newest first.' }),
  open: Type.Integer({ description: 'Tickets that await an answer, counted up to 100.' }),
  next_cursor: NextCursor,
})

const Ticket = shape('Ticket', {
  ...listed,
  is_test: Type.Boolean(),
  email: orNull(Type.String({ description: 'Email address given by the user, not verified.' })),
  emails_answers: Type.Boolean({ description: 'Whether answers are also sent to `email`.' }),
  click_id: orNull(Type.String({ description: "The user's latest click on the offer, when the ticket was opened." })),
  clicked_at: orNull(Time),
  conversions: Type.Array(
    Type.Object({
      conversion_id: Type.String(),
      goal_name: Type.String(),
      status: oneOf(STATUSES),
      created_at: Time,
    }),
    { description: 'Latest ten conversions of the user for the offer.' },
  ),
  messages: Type.Array(
    Type.Object({
      message_id: Type.String(),
      author: orNull(Type.String({ description: 'Who wrote the message; null for the user.' })),
      text: Type.String(),
      has_image: Type.Boolean(),
      is_emailed: Type.Boolean({ description: 'Whether the answer is also sent to the email address of the user.' }),
      created_at: Time,
    }),
    { description: 'Oldest first.' },
  ),
})
export type Ticket = Static<typeof Ticket>

const TicketListQuery = Type.Object({
  mode: Type.Optional(oneOf(['live', 'test'])),
  status: Type.Optional(oneOf(TICKET_STATUSES)),
  user_id: Type.Optional(freeText(256)),
  ...UUID_PAGE_QUERY,
})

const NewAnswer = shape('NewTicketAnswer', { key: SubmitKey, text: MessageText })
const TicketChange = shape('TicketChange', { status: oneOf(['open', 'closed']) })

export function appTicketRoutes(routes: ManageRoutes, { db, sendMails }: ManageContext): void {
  const hasMail = sendMails !== null
  const read = async (appId: number, ticketId: string): Promise<Ticket> => {
    const ticket = await readTicket(db, appId, ticketId)
    return { ...ticket, emails_answers: hasMail && ticket.email !== null && !ticket.is_test } as Ticket
  }

  routes.get('/apps/:app_id/tickets', {
    id: 'listTicketsOfApp',
    summary: 'List the tickets of an app',
    about: 'What users of the wall asked, newest first.',
    tag: TAG,
    access: 'publisher',
    params: AppParams,
    query: TicketListQuery,
    reply: TicketList,
    async run({ app: { appId }, query: { mode, status, user_id, cursor, limit = 20 } }) {
      const isTest = mode === 'test'
      const filter = {
        appId,
        isTest,
        ...(status === undefined ? {} : { status }),
        ...(user_id === undefined ? {} : { userId: user_id }),
        ...(cursor === undefined ? {} : { before: cursor }),
      }
      const { page, nextCursor } = await listTickets(db, filter, limit)
      return { tickets: page, open: await countOpenTickets(db, appId, isTest), next_cursor: nextCursor }
    },
  })

  routes.get('/apps/:app_id/tickets/:ticket_id', {
    id: 'getTicketOfApp',
    summary: 'Get a ticket',
    about: 'With its messages, the click, and the conversions of the user for that offer.',
    tag: TAG,
    access: 'publisher',
    params: TicketParams,
    reply: Ticket,
    run: ({ app, params }) => read(app.appId, params.ticket_id),
  })

  routes.post('/apps/:app_id/tickets/:ticket_id/messages', {
    id: 'answerTicket',
    summary: 'Answer a ticket',
    about:
      'The user sees the answer on the wall, at once if it is open, and gets it by email if the ticket has an address: ' +
      'at most 5 a day to an address, and 200 a day for an app. Nothing is emailed about test tickets.',
    tag: TAG,
    access: 'publisher',
    params: TicketParams,
    body: NewAnswer,
    reply: Ticket,
    async run({ app, by, params, body }) {
      await answerTicket(db, by, app.appId, params.ticket_id, { ...body, hasMail }, new Date())
      sendMails?.()
      return read(app.appId, params.ticket_id)
    },
  })

  routes.patch('/apps/:app_id/tickets/:ticket_id', {
    id: 'changeTicket',
    summary: 'Close or reopen a ticket',
    about: 'A closed ticket opens again when its user writes.',
    tag: TAG,
    access: 'publisher',
    params: TicketParams,
    body: TicketChange,
    reply: Ticket,
    async run({ app, by, params, body }) {
      await setTicketStatus(db, by, app.appId, params.ticket_id, body.status, new Date())
      return read(app.appId, params.ticket_id)
    },
  })

  routes.get('/apps/:app_id/tickets/:ticket_id/messages/:message_id/image', {
    id: 'getTicketImage',
    summary: 'Get the image of a message',
    about: 'As uploaded by the user. Images are deleted after 90 days.',
    tag: TAG,
    access: 'publisher',
    params: ImageParams,
    reply: TicketImage,
    run: ({ app: { appId }, params }) => readTicketImage(db, { appId }, params.ticket_id, params.message_id),
  })
}
