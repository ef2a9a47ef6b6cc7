// Messages between the wall and the page that shows it, which the SDK turns into events. The wall's own name no secret, so
// any page that may frame it may read them. It takes a new signature from its parent, and nothing else.
import { viewer } from './boot.ts'

export type WallMessage = 'ready' | 'offer-started' | 'credited' | 'error' | 'close'

export function announce(event: WallMessage, detail: Record<string, unknown> = {}): void {
  if (window.parent === window) return
  window.parent.postMessage({ source: 'offerdeck-wall', version: 1, event, detail }, '*')
}

/** The server checks the signature itself: a wrong one shows nothing. */
export function acceptSignatures(onSigned: () => void): void {
  if (window.parent === window) return
  addEventListener('message', ({ source, data }: MessageEvent<unknown>) => {
    if (source !== window.parent || typeof data !== 'object' || data === null) return
    const { source: sender, version, event, exp, sig } = data as Record<string, unknown>
    if (sender !== 'offerdeck-sdk' || version !== 1 || event !== 'signature') return
    if (typeof exp !== 'string' || !/^\d{1,12}$/.test(exp)) return
    if (typeof sig !== 'string' || !/^[0-9a-fA-F]{64}$/.test(sig)) return
    Object.assign(viewer.query, { exp, sig })
    onSigned()
  })
}

/** A key that is pressed in the frame does not reach the page around it. */
export function closeByEscape(): void {
  addEventListener('keydown', ({ key }) => {
    if (key === 'Escape' && document.querySelector('dialog') === null) announce('close')
  })
}
