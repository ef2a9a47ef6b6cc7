// Types of the Offerdeck SDK (/sdk/v1.js), which a page loads as a script.

declare namespace Offerdeck {
  type WallOptions = {
    apiKey: string
    userId: string
    exp?: number | string
    sig?: string
    /** Called when the signature has expired or is not accepted: resolve to a new one, created on your server. */
    renew?: Renew
    aff_sub?: string
    aff_sub2?: string
    aff_sub3?: string
    aff_sub4?: string
    country?: string
    platform?: string
    category?: string
    sort?: string
    theme?: 'light' | 'dark' | 'auto'
    lang?: string
    /** Read by screen readers. */
    title?: string
  }

  type Signature = { exp: number | string; sig: string }
  type Renew = () => Promise<Signature>

  type OpenOptions = WallOptions & {
    /** modal: over the page. inline: in `target`. tab: in a tab of its own, with the events `opened` and `error` only. */
    mode?: 'modal' | 'inline' | 'tab'
    /** For inline: an element, or a selector of one. */
    target?: Element | string
    /** Of the button that closes the modal. */
    closeLabel?: string
  }

  type WallEvents = {
    ready: object
    opened: object
    'offer-started': { offer_id: number }
    credited: { conversion_id: string; offer_id: number; goal_id: number; reward: number }
    closed: object
    error: { code: ErrorCode }
  }

  /** Why users do not see the wall, or no longer see what is theirs. */
  type ErrorCode =
    | 'expired'
    | 'signature_required'
    | 'invalid_signature'
    | 'invalid_api_key'
    | 'invalid_request'
    | 'resource_not_found'
    | 'rate_limit_exceeded'
    | 'server_error'

  type WallEvent = keyof WallEvents
  type Listener<E extends WallEvent> = (detail: WallEvents[E]) => void

  type Wall = {
    on<E extends WallEvent>(event: E, listener: Listener<E>): Wall
    off<E extends WallEvent>(event: E, listener: Listener<E>): Wall
    close(): void
  }

  function open(options: OpenOptions): Wall
}

/** `<offer-wall api-key="…" user-id="…">` */
interface OfferWallElement extends HTMLElement {
  /** As the option of `Offerdeck.open`. It can be set before the SDK is there. */
  renew?: Offerdeck.Renew
  addEventListener<E extends Offerdeck.WallEvent>(
    type: E,
    listener: (event: CustomEvent<Offerdeck.WallEvents[E]>) => void,
    options?: boolean | AddEventListenerOptions,
  ): void
  addEventListener(
    type: string,
    listener: EventListenerOrEventListenerObject,
    options?: boolean | AddEventListenerOptions,
  ): void
}

interface HTMLElementTagNameMap {
  'offer-wall': OfferWallElement
}
