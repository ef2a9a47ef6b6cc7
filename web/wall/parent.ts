// Messages to the page that shows the wall, which the SDK turns into events. They name no secret, so any parent that may
// frame the wall may read them.
export type WallMessage = 'ready' | 'offer-started' | 'credited' | 'error'

export function announce(event: WallMessage, detail: Record<string, unknown> = {}): void {
  if (window.parent === window) return
  window.parent.postMessage({ source: 'offerdeck-wall', version: 1, event, detail }, '*')
}
