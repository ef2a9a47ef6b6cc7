// What a publisher's page loads: <offer-locker locker="…">, or data-offer-locker="…" on any element. Covers its content and
// shows the locker in a frame. When the server says that it is unlocked, the content is uncovered, and the event `unlocked`
// carries the proof for the publisher's server.
import type { Language } from '../../src/lib/languages.ts'
import { isMessage, type KnownVisitor, visitorKey } from '../locker/parent.ts'

const ORIGIN = new URL((document.currentScript as HTMLScriptElement | null)?.src ?? location.href).origin
/** Longer lists scroll inside of the frame. */
const MAX_HEIGHT = 2_000
/** What frames are called, in each language that lockers have. */
const TITLES: Record<Language, string> = { en: 'Offers', de: 'Angebote', es: 'Ofertas', fr: 'Offres', pt: 'Ofertas', pl: 'Oferty', tr: 'Teklifler', ar: 'عروض' } // prettier-ignore
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

/** That of the part of the page (`lang`, also of what is around it), or else the visitor's. */
function languageOf(element: Element): Language {
  const around = element.closest<HTMLElement>('[lang]')?.lang ?? ''
  const wanted = [around, ...navigator.languages].map((tag) => tag.slice(0, 2).toLowerCase())
  return (wanted.find((tag) => Object.hasOwn(TITLES, tag)) ?? 'en') as Language
}

/** Returns how to take the frame away, and show the content again. */
type Cover = (frame: HTMLElement) => () => void

/** Returns how to take the locker away. */
function lock(element: HTMLElement, locker: string, isTest: boolean, cover: Cover): () => void {
  /** Visitors of before were kept for each locker. */
  const oldKey = `offerdeck-locker-${locker}${isTest ? '-test' : ''}`
  let key = oldKey // until the frame says which app it belongs to
  const lang = languageOf(element)
  const query = new URLSearchParams({ locker, origin: location.origin, lang, ...(isTest ? { test: '1' } : {}) })
  const frame = document.createElement('iframe')
  const load = () => (frame.src = `${ORIGIN}/locker?${query.toString()}`)
  load()
  frame.title = element.getAttribute('title') ?? TITLES[lang]
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
      const { app, theme } = data.detail as { app?: unknown; theme?: unknown }
      if (typeof app === 'number') key = visitorKey(app, isTest)
      // Otherwise, browsers paint a page behind a dark frame in a light page, and the reverse.
      frame.style.colorScheme = theme === 'light' || theme === 'dark' ? theme : 'light dark'
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
  let isOn = true
  const remove = () => {
    if (!isOn) return
    isOn = false
    removeEventListener('message', hear)
    uncover()
    endTurn(key, frame)
  }
  addEventListener('message', hear)
  return remove
}

class OfferLocker extends HTMLElement {
  static observedAttributes = ['locker']
  #remove: (() => void) | null = null

  connectedCallback(): void {
    this.style.display ||= 'block'
    queueMicrotask(() => this.#start()) // a script that adds it may set more attributes
  }

  /** Also of an element that was there before it had one. */
  attributeChangedCallback(): void {
    this.disconnectedCallback()
    queueMicrotask(() => this.#start())
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

const MARK = 'data-offer-locker'
/** Marked elements that were seen, with how to take their lockers away. */
const marked = new Map<HTMLElement, () => void>()

function lockMarked(element: HTMLElement): void {
  marked.get(element)?.() // it was moved, or marked for another locker
  marked.delete(element)
  const locker = element.getAttribute(MARK)
  if (locker === null || !element.isConnected) return
  marked.set(element, lock(element, locker, element.dataset['test'] !== undefined, coverElement(element)))
}

/** Pages add, move and remove elements at any time; this runs before they are painted. */
function followMarked(changes: MutationRecord[]): void {
  const changed = new Set<Node>()
  for (const { type, target, addedNodes } of changes) {
    if (type === 'attributes') changed.add(target)
    for (const node of addedNodes) {
      if (!(node instanceof HTMLElement)) continue
      if (node.hasAttribute(MARK)) changed.add(node)
      for (const inner of node.querySelectorAll(`[${MARK}]`)) changed.add(inner)
    }
  }
  for (const element of marked.keys()) if (!element.isConnected) changed.add(element)
  for (const element of changed) if (element instanceof HTMLElement) lockMarked(element)
}

if (customElements.get('offer-locker') === undefined) {
  customElements.define('offer-locker', OfferLocker)
  for (const element of document.querySelectorAll<HTMLElement>(`[${MARK}]`)) lockMarked(element)
  const options = { childList: true, subtree: true, attributeFilter: [MARK] }
  new MutationObserver(followMarked).observe(document, options)
}
