// Messages between the frame of a locker and the page around it. The key of a visitor goes to the origin that the page
// named and to no other: the browser delivers it nowhere else.
export type KnownVisitor = { visitor: string; key: string }
export type LockerMessage = { source: 'offerdeck-locker'; version: 1; event: string; detail: object }

/** Where a visitor is kept: all lockers of an app have the same. */
export const visitorKey = (app: number, isTest: boolean) => `offerdeck-app-${app}${isTest ? '-test' : ''}`

export function announce(
  parent: string | null,
  event: 'ready' | 'visitor' | 'failed' | 'unlocked' | 'height',
  detail: object,
): void {
  if (window.parent === window || parent === null) return
  window.parent.postMessage({ source: 'offerdeck-locker', version: 1, event, detail } satisfies LockerMessage, parent)
}

/** Once, with the visitor that the page knows, if any. */
export function listen(parent: string | null, start: (visitor: KnownVisitor | null) => void): void {
  const hear = ({ source, origin, data }: MessageEvent<unknown>) => {
    if (source !== window.parent || origin !== parent || !isMessage(data) || data.event !== 'start') return
    removeEventListener('message', hear)
    const { visitor, key } = data.detail as Partial<KnownVisitor>
    const isKnown = typeof visitor === 'string' && typeof key === 'string'
    start(isKnown && /^[0-9a-f]{32}$/.test(visitor) && /^[\w-]{43}$/.test(key) ? { visitor, key } : null)
  }
  addEventListener('message', hear)
}

export function isMessage(data: unknown): data is LockerMessage {
  const { source, version, event, detail } = (data ?? {}) as Partial<LockerMessage>
  return source === 'offerdeck-locker' && version === 1 && typeof event === 'string' && typeof detail === 'object' && detail !== null // prettier-ignore
}
