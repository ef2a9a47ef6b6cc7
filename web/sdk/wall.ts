// A wall in a frame of the page: its address, its messages, and how it goes away again without a trace.
//
// A message counts only when it comes from the frame that this wall made, from the server's origin, and has the shape of
// one. Nothing in it is ever used as code or HTML.
type WallOptions = Offerdeck.WallOptions
type WallEvents = Offerdeck.WallEvents
type WallEvent = Offerdeck.WallEvent
type Listener<E extends WallEvent> = Offerdeck.Listener<E>
type Signed = Offerdeck.Signature
type ErrorCode = Offerdeck.ErrorCode

const PARAMETERS = ['apiKey', 'userId', 'exp', 'sig', 'aff_sub', 'aff_sub2', 'aff_sub3', 'aff_sub4', 'country', 'platform', 'category', 'sort', 'theme', 'lang'] as const // prettier-ignore
/** What a wall may say, and with which details; `close` when the user pressed Escape. */
const HEARD = new Map<unknown, Record<string, 'number' | 'string'>>([
  ['ready', {}],
  ['offer-started', { offer_id: 'number' }],
  ['credited', { conversion_id: 'string', offer_id: 'number', goal_id: 'number', reward: 'number' }],
  ['error', { code: 'string' }],
  ['close', {}],
])
/** Those that a new signature may help. */
const RENEWABLE: unknown[] = ['expired', 'signature_required', 'invalid_signature'] satisfies Offerdeck.ErrorCode[]
/** A new signature that has expired, too, is not replaced at once: a server with a wrong clock would be asked without end. */
const RENEWED_MS = 10_000
const SANDBOX = 'allow-scripts allow-same-origin allow-popups allow-popups-to-escape-sandbox'

function urlOf(origin: string, options: WallOptions, embed: boolean): string {
  const given = PARAMETERS.flatMap((name) => {
    const value = options[name]
    return value === undefined || value === '' ? [] : [[name, String(value)]]
  })
  return `${origin}/wall?${new URLSearchParams([...given, ...(embed ? [['embed', '1']] : [])]).toString()}`
}

export class WallFrame {
  readonly element: HTMLIFrameElement
  /** The user pressed Escape. A wall that is a part of the page stays. */
  onEscape = (): void => {}
  readonly #origin: string
  readonly #options: WallOptions
  readonly #listeners = new Map<string, Set<Listener<never>>>()
  #isClosed = false
  /** The wall itself is in the frame: it may also be a page that says what is wrong. */
  #isReady = false
  #isRenewing = false
  #renewedAtMs = 0
  /** That the latest signature is no good. */
  #isSaid = false
  /** The latest one of `renew`: the URL of the frame still has the one before. */
  #renewed: Signed | null = null

  constructor(origin: string, options: WallOptions) {
    this.#origin = origin
    this.#options = options
    this.element = document.createElement('iframe')
    this.element.title = options.title ?? 'Offers'
    this.element.setAttribute('sandbox', SANDBOX)
    this.element.referrerPolicy = 'no-referrer'
    Object.assign(this.element.style, { width: '100%', height: '100%', border: '0', display: 'block' })
  }

  showIn(place: ParentNode): void {
    addEventListener('message', this.#receive)
    this.#load(true, (url) => (this.element.src = url))
    place.append(this.element)
  }

  /** A tab has to be opened at once: after a wait, browsers block it. */
  showInTab(): void {
    if (!this.#isExpired()) return this.#load(false, (url) => window.open(url, '_blank', 'noopener'))
    const tab = window.open('', '_blank')
    if (tab === null) return
    tab.opener = null
    let waiting: Window | null = tab
    this.on('closed', () => waiting?.close())
    this.#load(false, (url) => {
      waiting = null
      tab.location.replace(url)
    })
  }

  #isExpired(): boolean {
    const { exp, renew } = this.#options
    return renew !== undefined && Number(exp) * 1_000 <= Date.now()
  }

  /** With a new signature where this one has expired. */
  #load(isEmbedded: boolean, show: (url: string) => void): void {
    const load = (signed: Partial<Signed>) => show(urlOf(this.#origin, { ...this.#options, ...signed }, isEmbedded))
    const { renew } = this.#options
    if (renew !== undefined && this.#isExpired()) void this.#renew(renew, 'expired', load, () => load({})) // which says what is wrong
    else load({})
  }

  on<E extends WallEvent>(event: E, listener: Listener<E>): this {
    const listeners = this.#listeners.get(event) ?? new Set()
    this.#listeners.set(event, listeners.add(listener))
    return this
  }

  off<E extends WallEvent>(event: E, listener: Listener<E>): this {
    this.#listeners.get(event)?.delete(listener)
    return this
  }

  emit<E extends WallEvent>(event: E, detail: WallEvents[E]): void {
    for (const listener of this.#listeners.get(event) ?? []) (listener as Listener<E>)(detail)
  }

  close(): void {
    if (this.#isClosed) return
    this.#isClosed = true
    removeEventListener('message', this.#receive)
    this.element.remove()
    this.emit('closed', {})
  }

  readonly #receive = ({ origin, source, data }: MessageEvent<unknown>): void => {
    if (origin !== this.#origin || source !== this.element.contentWindow || !isMessage(data)) return
    const { renew } = this.#options
    if (data.event === 'close') return this.onEscape()
    if (data.event === 'ready') this.#isReady = true
    if (data.event === 'error' && data.is_page === true && this.#hasBetter()) return
    if (data.event === 'error' && renew !== undefined && RENEWABLE.includes(data.detail.code))
      return void this.#renew(renew, data.detail.code, (signed) => this.#useNew(signed))
    this.emit(data.event, data.detail)
  }

  /** A page that says what is wrong has replaced the wall: the user loaded the frame again, perhaps by a URL of before. */
  #hasBetter(): boolean {
    this.#isReady = false
    const renewed = this.#renewed
    if (renewed === null || this.element.src === this.#urlWith(renewed)) return false
    this.#loadAgain(renewed)
    return true
  }

  #useNew({ exp, sig }: Signed): void {
    this.#renewed = { exp, sig }
    if (!this.#isReady) return this.#loadAgain({ exp, sig })
    const message = { source: 'offerdeck-sdk', version: 1, event: 'signature', exp: String(exp), sig }
    this.element.contentWindow?.postMessage(message, this.#origin)
  }

  readonly #urlWith = (signed: Signed) => urlOf(this.#origin, { ...this.#options, ...signed }, true)

  #loadAgain(signed: Signed): void {
    const { parentNode, nextSibling } = this.element
    this.element.remove() // loaded in place, Back would lead to the page that says what was wrong
    this.element.src = this.#urlWith(signed)
    parentNode?.insertBefore(this.element, nextSibling)
  }

  async #renew(
    renew: Offerdeck.Renew,
    code: ErrorCode,
    use: (signed: Signed) => void,
    onFailed?: () => void,
  ): Promise<void> {
    if (this.#isRenewing) return
    if (Date.now() - this.#renewedAtMs < RENEWED_MS) return this.#sayOnce(code)
    this.#isRenewing = true
    try {
      const { exp, sig } = await Promise.resolve().then(renew) // listeners are added first
      this.#isSaid = false
      if (!this.#isClosed) use({ exp, sig })
    } catch (error) {
      reportError(error) // the page's own
      this.#sayOnce(code)
      onFailed?.()
    }
    this.#isRenewing = false
    this.#renewedAtMs = Date.now()
  }

  #sayOnce(code: ErrorCode): void {
    if (!this.#isSaid) this.emit('error', { code })
    this.#isSaid = true
  }
}

type Message = { [E in 'ready' | 'offer-started' | 'credited' | 'error']: { event: E; detail: WallEvents[E] } }
/** `is_page`: not of the wall, but of a page in its place. */
type Heard = (Message[keyof Message] & { is_page?: unknown }) | { event: 'close'; detail: object }

function isMessage(data: unknown): data is Heard {
  if (typeof data !== 'object' || data === null) return false
  const { source, version, event, detail } = data as Record<string, unknown>
  const shape = source === 'offerdeck-wall' && version === 1 ? HEARD.get(event) : undefined
  if (shape === undefined || typeof detail !== 'object' || detail === null) return false
  return Object.entries(shape).every(([name, type]) => typeof (detail as Record<string, unknown>)[name] === type)
}
