// What a publisher's page loads: <offer-locker locker="…">, or data-offer-locker="…" on any element. Covers its content and
// shows the locker in a frame. When the server says that it is unlocked, the content is uncovered, and the event `unlocked`
// carries the proof for the publisher's server.
import { isMessage, type KnownVisitor } from '../locker/parent.ts'

const ORIGIN = new URL((document.currentScript as HTMLScriptElement | null)?.src ?? location.href).origin
const memory = new Map<string, string>()

const storage = {
  get(key: string): string | null {
    try {
      return localStorage.getItem(key)
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

/** Returns how to take the locker away. */
function lock(element: HTMLElement, locker: string, isTest: boolean): () => void {
  const key = `offerdeck-locker-${locker}${isTest ? '-test' : ''}`
  const hidden = [...element.children].filter((child): child is HTMLElement => child instanceof HTMLElement)
  const wereHidden = hidden.map((child) => child.hidden)
  for (const child of hidden) child.hidden = true
  const query = new URLSearchParams({ locker, origin: location.origin, ...(isTest ? { test: '1' } : {}) })
  const frame = document.createElement('iframe')
  frame.src = `${ORIGIN}/locker?${query.toString()}`
  frame.title = element.getAttribute('title') ?? 'Offers'
  frame.style.cssText = 'display:block;width:100%;min-height:480px;border:0'
  const hear = ({ source, origin, data }: MessageEvent<unknown>) => {
    if (origin !== ORIGIN || source !== frame.contentWindow || !isMessage(data)) return
    if (data.event === 'ready') {
      const message = { source: 'offerdeck-locker', version: 1, event: 'start', detail: readVisitor(key) }
      frame.contentWindow?.postMessage(message, ORIGIN)
    } else if (data.event === 'visitor') storage.set(key, JSON.stringify(data.detail))
    else if (data.event === 'unlocked') {
      remove()
      const { proof } = data.detail as { proof?: unknown }
      const detail = { locker, proof: typeof proof === 'string' ? proof : null }
      element.dispatchEvent(new CustomEvent('unlocked', { detail, bubbles: true }))
    }
  }
  const remove = () => {
    removeEventListener('message', hear)
    frame.remove()
    for (const [i, child] of hidden.entries()) child.hidden = wereHidden[i] ?? false
  }
  addEventListener('message', hear)
  element.append(frame)
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
    this.#remove = lock(this, locker, this.hasAttribute('test'))
  }
}

function lockMarked(): void {
  for (const element of document.querySelectorAll<HTMLElement>('[data-offer-locker]'))
    lock(element, element.dataset['offerLocker'] ?? '', element.dataset['test'] !== undefined)
}

if (customElements.get('offer-locker') === undefined) {
  customElements.define('offer-locker', OfferLocker)
  if (document.readyState === 'loading') document.addEventListener('DOMContentLoaded', lockMarked)
  else lockMarked()
}
