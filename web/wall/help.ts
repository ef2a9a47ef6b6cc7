// Tickets: what the user asks the publisher, and the answers. Without form submits, which a sandboxed frame may block.
import { ApiError, isOver, listTickets, readImage, type SentTicket, sendTicket } from './api.ts'
import { look, type Ticket, viewer } from './boot.ts'
import { h, replace } from './dom.ts'
import { dateText, say } from './format.ts'
import { notice } from './notice.ts'

const KINDS = ['not_credited', 'question', 'other'] as const
const IMAGES = 'image/png,image/jpeg,image/webp,image/gif'
const MAX_BYTES = 1_048_576

export type AskableOffer = { offer_id: number; offer_name: string }
export type HelpView = {
  element: HTMLElement
  /** Asks for what was answered meanwhile. */
  refresh: () => Promise<void>
  /** The offers that the user has started. */
  setOffers: (offers: AskableOffer[]) => void
  /** Begins a ticket about this offer. */
  askAbout: (offerId: number) => void
}

export function helpView(): HelpView {
  const list = h('div', {})
  const shown = new Map<string, TicketRow>()
  const form = ticketForm((ticket) => {
    add([ticket], 'first')
    shown.get(ticket.ticket_id)?.open()
  })
  const rows = h('div', { class: 'rows' })

  function add(tickets: Ticket[], place: 'first' | 'last'): void {
    for (const ticket of tickets) {
      const known = shown.get(ticket.ticket_id)
      if (known !== undefined) {
        known.update(ticket)
        continue
      }
      const row = ticketRow(ticket)
      shown.set(ticket.ticket_id, row)
      if (place === 'first') rows.prepend(row.element)
      else rows.append(row.element)
    }
    if (shown.size > 0 && !rows.isConnected) replace(list, h('h2', {}, say('your_tickets')), rows, below)
  }

  const below = h('div', { class: 'below' })
  async function load(cursor?: string): Promise<void> {
    try {
      const isFirst = shown.size === 0
      const { tickets, next_cursor } = await listTickets(cursor)
      const isAppended = isFirst || cursor !== undefined
      add(isAppended ? tickets : tickets.toReversed(), isAppended ? 'last' : 'first')
      if (!isAppended) return
      const more = () => void load(next_cursor ?? '')
      replace(below, next_cursor !== null && h('button', { class: 'plain', onclick: more }, say('more')))
    } catch {
      if (shown.size === 0) replace(list, notice('tickets_failed', null, ['retry', () => void load()]))
    }
  }

  const element = h('section', { 'aria-label': say('help') }, form.element, list)
  return {
    element,
    refresh: async () => (viewer.isSigned ? load() : undefined),
    setOffers: (offers) => form.setOffers(offers),
    askAbout: (offer) => form.askAbout(offer),
  }
}

type TicketRow = { element: HTMLElement; update: (ticket: Ticket) => void; open: () => void }

function ticketRow(first: Ticket): TicketRow {
  const status = h('span', { class: 'badge' })
  const messages = h('ol', { class: 'messages' })
  const count = h('small', {})
  let written = ''
  function update(ticket: Ticket): void {
    const text = JSON.stringify(ticket)
    if (text === written) return // an image that is shown stays
    written = text
    status.textContent = say(`ticket_${ticket.status}`)
    count.textContent = dateText(ticket.updated_at)
    replace(messages, ...ticket.messages.map((message) => messageRow(ticket.ticket_id, message)))
  }
  const reply = messageForm('reply', [], async (message) => {
    update(await sendTicket(message, first.ticket_id))
  })
  const element = h(
    'details',
    { class: 'row ticket' },
    h('summary', {}, h('span', { dir: 'auto' }, first.offer_name ?? say(first.kind)), status, count),
    messages,
    reply.element,
  )
  update(first)
  return { element, update, open: () => (element.open = true) }
}

function messageRow(
  ticketId: string,
  { message_id, is_mine, text, has_image, created_at }: Ticket['messages'][number],
) {
  const show = async () => {
    const image = await readImage(ticketId, message_id).catch(() => null)
    if (image === null) return
    button.replaceWith(h('img', { src: `data:${image.type};base64,${image.content}`, alt: say('image') }))
  }
  const button = h('button', { class: 'plain', onclick: () => void show() }, say('show_image'))
  return h(
    'li',
    { class: is_mine ? 'mine' : 'answer' },
    h('small', {}, h('b', {}, say(is_mine ? 'you' : 'support')), ` · ${dateText(created_at)}`),
    h('p', { class: 'lines', dir: 'auto' }, text),
    has_image && button,
  )
}

function ticketForm(onSent: (ticket: Ticket) => void) {
  const kind = h('select', { id: 'kind' }, ...KINDS.map((one) => h('option', { value: one }, say(one))))
  const offer = h('select', { id: 'offer' }, h('option', { value: '' }, say('no_offer')))
  const fields = [field('about', kind), field('which_offer', offer)]
  const email = h('input', { id: 'email', type: 'email', maxlength: '254', autocomplete: 'email' })
  const send = async (message: SentTicket) => {
    const about = offer.value === '' ? {} : { offer_id: Number(offer.value) }
    const to = email.value.trim() === '' ? {} : { email: email.value.trim() }
    const lang = look.language as NonNullable<SentTicket['lang']>
    onSent(await sendTicket({ ...message, kind: kind.value as (typeof KINDS)[number], ...about, ...to, lang }))
  }
  const form = messageForm('ask', fields, send, viewer.asksEmail ? [field('email', email)] : [])
  const element = h('details', { class: 'row ticket' }, h('summary', {}, say('ask')), form.element)
  return {
    element,
    setOffers(offers: AskableOffer[]): void {
      const known = new Set([...offer.options].map(({ value }) => value))
      for (const { offer_id, offer_name } of offers) {
        if (known.has(String(offer_id))) continue
        known.add(String(offer_id))
        offer.append(h('option', { value: String(offer_id), dir: 'auto' }, offer_name))
      }
    },
    askAbout(offerId: number): void {
      element.open = true
      kind.value = 'not_credited'
      offer.value = String(offerId)
      form.focus()
    },
  }
}

let forms = 0

function messageForm(
  label: 'ask' | 'reply',
  before: HTMLElement[],
  send: (message: SentTicket) => Promise<void>,
  after: HTMLElement[] = [],
) {
  const number = ++forms
  const text = h('textarea', { id: `text-${number}`, maxlength: '2000', rows: '4' })
  const image = h('input', { id: `image-${number}`, type: 'file', accept: IMAGES })
  const result = h('p', { role: 'status' })
  const button = h('button', { class: 'main', type: 'button', onclick: () => void submit() }, say('send'))
  let key = newKey()

  async function submit(): Promise<void> {
    const [file] = image.files ?? []
    if (text.value.trim() === '') return text.focus()
    if (file !== undefined && (file.size > MAX_BYTES || !IMAGES.split(',').includes(file.type)))
      return void (result.textContent = say('image_wrong'))
    button.disabled = true
    try {
      const content = file === undefined ? {} : { image: await base64Of(file) }
      await send({ key, text: text.value.trim(), ...content })
      text.value = ''
      image.value = ''
      key = newKey()
      result.textContent = say('sent')
    } catch (error) {
      result.textContent = say(problemOf(error))
    } finally {
      button.disabled = false
    }
  }

  const element = h(
    'div',
    { class: 'form', role: 'group', 'aria-label': say(label) },
    ...before,
    field('message', text),
    field('image', image),
    ...after,
    button,
    result,
  )
  element.addEventListener('input', () => (key = newKey())) // what is changed is another message
  return { element, focus: () => text.focus() }
}

function problemOf(error: unknown): 'expired_text' | 'image_wrong' | 'email_wrong' | 'too_many' | 'send_failed' {
  if (!(error instanceof ApiError)) return 'send_failed'
  if (isOver(error)) return 'expired_text'
  if (error.field === 'image' || error.field === 'body') return 'image_wrong'
  if (error.field === 'email') return 'email_wrong'
  return error.status === 429 || error.field === 'text' ? 'too_many' : 'send_failed'
}

const field = (label: 'about' | 'which_offer' | 'message' | 'image' | 'email', input: HTMLElement) =>
  h('label', { for: input.id }, say(label), input)

const base64Of = (file: File) =>
  new Promise<string>((resolve, reject) => {
    const reader = new FileReader()
    reader.addEventListener('load', () => resolve(String(reader.result).replace(/^.*,/, '')))
    reader.addEventListener('error', () => reject(new Error('The file cannot be read.')))
    reader.readAsDataURL(file)
  })

/** A UUID, also where the page came without TLS, and randomUUID is missing. */
function newKey(): string {
  const hex = [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, '0')).join('')
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20)}`
}
