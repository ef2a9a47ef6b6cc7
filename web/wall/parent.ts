// Messages between the wall and the page that shows it, which the SDK turns into events. The wall's own name no secret, so
// any page that may frame it may read them. It takes a new signature from its parent, and nothing else. Which origins a
// parent may have, the browser has checked by then (frame-ancestors): one that is not allowed has no wall to write to.
import { viewer } from './boot.ts'

const TAKEN_MS = 10_000

/** What the page says to itself when its signature is a new one. */
export const SIGNED = 'offerdeck-signed'

export type WallMessage = 'ready' | 'offer-started' | 'credited' | 'error' | 'close'

export function announce(event: WallMessage, detail: Record<string, unknown> = {}): void {
  if (window.parent === window) return
  window.parent.postMessage({ source: 'offerdeck-wall', version: 1, event, detail }, '*')
}

/**
 * The server checks the signature itself: a wrong one shows nothing. Each new one costs a stream and some questions, so of
 * many that come in a row, the first is used at once, and the latest after a while.
 */
export function acceptSignatures(): void {
  if (window.parent === window) return
  let latest: { exp: string; sig: string } | null = null
  let isWaiting = false
  const use = () => {
    if (isWaiting || latest === null || latest.sig === viewer.query['sig']) return
    Object.assign(viewer.query, latest)
    isWaiting = true
    setTimeout(() => {
      isWaiting = false
      use()
    }, TAKEN_MS)
    dispatchEvent(new Event(SIGNED))
  }
  addEventListener('message', ({ source, data }: MessageEvent<unknown>) => {
    if (source !== window.parent || typeof data !== 'object' || data === null) return
    const { source: sender, version, event, exp, sig } = data as Record<string, unknown>
    if (sender !== 'offerdeck-sdk' || version !== 1 || event !== 'signature') return
    if (typeof exp !== 'string' || !/^\d{1,12}$/.test(exp)) return
    if (typeof sig !== 'string' || !/^[0-9a-fA-F]{64}$/.test(sig)) return
    latest = { exp, sig }
    use()
  })
}

/** A key that is pressed in the frame does not reach the page around it. What is being written is never closed. */
export function closeByEscape(): void {
  addEventListener('keydown', ({ key }) => {
    if (key === 'Escape' && document.querySelector('dialog[open]') === null && !isWriting()) announce('close')
  })
}

/** In a field, or a message that is not sent yet. */
function isWriting(): boolean {
  const fields = document.querySelectorAll<HTMLInputElement | HTMLTextAreaElement>('input:focus, textarea')
  return [...fields].some(({ value }) => value !== '')
}
