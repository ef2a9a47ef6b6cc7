// Secrets that the server has just shown: kept in the memory of this page only, to fill them into examples. A reload
// forgets them.
import { useSyncExternalStore } from 'react'

type Kind = 'api' | 'signing'

const shown = new Map<string, string>()
const watchers = new Set<() => void>()

const nameOf = (apiKey: string, kind: Kind) => `${kind} ${apiKey}`

function watch(watcher: () => void): () => void {
  watchers.add(watcher)
  return () => watchers.delete(watcher)
}

export function keepSecret(apiKey: string, kind: Kind, secret: string): void {
  shown.set(nameOf(apiKey, kind), secret)
  for (const watcher of watchers) watcher()
}

/** Null when it was not shown in this visit. */
export const useSecret = (apiKey: string, kind: Kind): string | null =>
  useSyncExternalStore(watch, () => shown.get(nameOf(apiKey, kind)) ?? null)
