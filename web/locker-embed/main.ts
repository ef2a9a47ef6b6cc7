// What a publisher's page loads: <offer-locker locker="…">, or data-offer-locker="…" on any element. Covers its content and
// shows the locker in a frame. When the server says that it is unlocked, the content is uncovered, and the event `unlocked`
// carries the proof for the publisher's server.
import { isMessage, type KnownVisitor, visitorKey } from '../locker/parent.ts'

const ORIGIN = new URL((document.currentScript as HTMLScriptElement | null)?.src ?? location.href).origin
/** Longer lists scroll inside of the frame. */
const MAX_HEIGHT = 2_000
const memory = new Map<string, string>()

const storage = {
  get(key: string): string | null {
    try {
      return localStorage.getItem(key) ?? memory.get(key) ?? null // it may be readable, but full
    } catch {
      return memory.get(key) ?? null
    }
  },
  set(key: string, value: string): void {
    memory.set(key, value)
    try {
      localStorage.setItem(key, value)
    } catch {} // then for as long as the page is open
  },
}

function readVisitor(key: string): Partial<KnownVisitor> {
  try {
    return (JSON.parse(storage.get(key) ?? '{}') ?? {}) as Partial<KnownVisitor>
  } catch {
    return {}
  }
}

/** All lockers of an app have one visitor: while the first frame asks for it, the others wait. */
const asking = new Map<string, { first: Element; others: Map<Element, () => void> }>()

function startAsOne(key: string, frame: Element, start: () => void): void {
  const turn = asking.get(key)
  if (turn !== undefined && turn.first !== frame) return void turn.others.set(frame, start)
  if (readVisitor(key).visitor === undefined) asking.set(key, { first: frame, others: turn?.others ?? new Map() })
  start()
}

/** The visitor is known, or the frame is gone or has failed: the others go on. */
function endTurn(key: string, frame: Element): void {
  const turn = asking.get(key)
  turn?.others.delete(frame)
  if (turn?.first !== frame) return
  asking.delete(key)
  for (const [other, start] of turn.others) startAsOne(key, other, start)
}

/** Returns how to take the frame away, and show the content again. */
type Cover = (frame: HTMLElement) => () => void

/** Returns how to take the locker away. */
function lock(element: HTMLElement, locker: string, isTest: boolean, cover: Cover): () => void {
  /** Visitors of before were kept for each locker. */
  const oldKey = `offerdeck-locker-${locker}${isTest ? '-test' : ''}`
  let key = oldKey // until the frame says which app it belongs to
  const query = new URLSearchParams({ locker, origin: location.origin, ...(isTest ? { test: '1' } : {}) })
  const frame = document.createElement('iframe')
  const load = () => (frame.src = `${ORIGIN}/locker?${query.toString()}`)
  load()
  frame.title = element.getAttribute('title') ?? 'Offers'
  frame.style.cssText = 'display:block;width:100%;height:480px;border:0'
  let sent: string | undefined
  const start = () => {
    const detail = { ...readVisitor(oldKey), ...readVisitor(key) }
    sent = detail.visitor
    const message = { source: 'offerdeck-locker', version: 1, event: 'start', detail }
    frame.contentWindow?.postMessage(message, ORIGIN)
  }
  const hear = ({ source, origin, data }: MessageEvent<unknown>) => {
    if (origin !== ORIGIN || source !== frame.contentWindow || !isMessage(data)) return
    if (data.event === 'ready') {
      const { app } = data.detail as { app?: unknown }
      if (typeof app === 'number') key = visitorKey(app, isTest)
      startAsOne(key, frame, start)
    } else if (data.event === 'visitor') {
      const { visitor } = data.detail as Partial<KnownVisitor>
      const other = readVisitor(key).visitor
      // Another tab was given one at the same time: the frame starts again, with that one.
      if (other !== undefined && other !== sent && other !== visitor) load()
      else storage.set(key, JSON.stringify(data.detail))
      endTurn(key, frame)
    } else if (data.event === 'failed') endTurn(key, frame)
    else if (data.event === 'height') {
      const { height } = data.detail as { height?: unknown }
      if (typeof height === 'number') frame.style.height = `${Math.min(Math.ceil(height), MAX_HEIGHT)}px`
    } else if (data.event === 'unlocked') {
      remove()
      const { proof } = data.detail as { proof?: unknown }
      const detail = { locker, proof: typeof proof === 'string' ? proof : null }
      element.dispatchEvent(new CustomEvent('unlocked', { detail, bubbles: true }))
    }
  }
  const uncover = cover(frame)
  const remove = () => {
    removeEventListener('message', hear)
    uncover()
    endTurn(key, frame)
  }
  addEventListener('message', hear)
  return remove
}

class OfferLocker extends HTMLElement {
  #remove: (() => void) | null = null

  connectedCallback(): void {
    this.style.display ||= 'block'
    // The parser adds what is inside later.
    queueMicrotask(() => {
      if (document.readyState === 'loading') document.addEventListener('DOMContentLoaded', () => this.#start())
      else this.#start()
    })
  }

  disconnectedCallback(): void {
    this.#remove?.()
    this.#remove = null
  }

  #start(): void {
    const locker = this.getAttribute('locker')
    if (locker === null || !this.isConnected || this.#remove !== null) return
    this.#remove = lock(this, locker, this.hasAttribute('test'), (frame) => this.#cover(frame))
  }

  /** What a slot shows is the content; without one, nothing of it is shown. */
  #cover(frame: HTMLElement): () => void {
    const shown = this.shadowRoot ?? this.attachShadow({ mode: 'open' })
    shown.replaceChildren(frame)
    return () => shown.replaceChildren(document.createElement('slot'))
  }
}

/** Any element, with whatever is in it, also text. */
const coverElement =
  (element: HTMLElement): Cover =>
  (frame) => {
    const [display, priority] = [element.style.getPropertyValue('display'), element.style.getPropertyPriority('display')] // prettier-ignore
    element.style.setProperty('display', 'none', 'important')
    element.before(frame)
    return () => {
      frame.remove()
      element.style.setProperty('display', display, priority)
    }
  }

function lockMarked(): void {
  for (const element of document.querySelectorAll<HTMLElement>('[data-offer-locker]'))
    lock(element, element.dataset['offerLocker'] ?? '', element.dataset['test'] !== undefined, coverElement(element))
}

if (customElements.get('offer-locker') === undefined) {
  customElements.define('offer-locker', OfferLocker)
  if (document.readyState === 'loading') document.addEventListener('DOMContentLoaded', lockMarked)
  else lockMarked()
}
