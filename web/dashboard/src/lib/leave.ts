// Leaving a page with unsaved changes asks first: by a link, by Back, or by closing the tab.
//
// A browser tells of Back when it has happened. The page is then kept as it was (`held`), the browser is sent forward
// again, and the person is asked; if they agree, the browser goes back for good. Each entry of the history carries its
// number, so that we know how far to go.
import { useEffect, useId } from 'react'
import type { AroundNavHandler } from 'wouter'
import { navigate, useLocationProperty } from 'wouter/use-browser-location'
import { keepMode } from './mode.ts'

type Place = { index: number; pathname: string; search: string }

const changed = new Set<string>()
let ask: () => Promise<boolean> = async () => true
let current: Place
let held: Place | null = null
let steps = 0

/** Whether there is something on the page that would be lost. */
export function useLeaveGuard(isChanged: boolean): void {
  const id = useId()
  useEffect(() => {
    if (!isChanged) return
    changed.add(id)
    return () => void changed.delete(id)
  }, [id, isChanged])
}

/** Once, before anything is shown. */
export function guardLeaving(question: () => Promise<boolean>): void {
  ask = question
  current = here(indexOf(history.state) ?? 0)
  history.replaceState({ ...history.state, index: current.index }, '')
  window.addEventListener('popstate', onPop)
  window.addEventListener('beforeunload', (event) => changed.size > 0 && event.preventDefault())
}

export const useGuardedPath = (): [string, typeof navigate] => [
  useLocationProperty(() => held?.pathname ?? window.location.pathname),
  navigate,
]
export const useGuardedSearch = () => useLocationProperty(() => held?.search ?? window.location.search)

export const guardNavigation: AroundNavHandler = (go, to, options) => {
  const move = () => {
    const index = options?.replace === true ? current.index : current.index + 1
    go(keepMode(to), { ...options, state: { index } })
    current = here(index)
  }
  if (changed.size === 0 || new URL(to, window.location.href).pathname === current.pathname) move()
  else void mayLeave().then((isLeaving) => isLeaving && move())
}

function onPop(event: PopStateEvent): void {
  if (held !== null) {
    event.stopImmediatePropagation()
    held = null
    void mayLeave().then((isLeaving) => isLeaving && history.go(steps))
    return
  }
  const to = here(indexOf(event.state) ?? current.index + 1)
  if (changed.size === 0 || to.pathname === current.pathname || to.index === current.index) {
    current = to
    return
  }
  event.stopImmediatePropagation()
  held = current
  steps = to.index - current.index
  history.go(-steps)
}

async function mayLeave(): Promise<boolean> {
  const isLeaving = await ask()
  if (isLeaving) changed.clear()
  return isLeaving
}

const here = (index: number): Place => {
  const { pathname, search } = window.location
  return { index, pathname, search }
}
const indexOf = (state: unknown): number | undefined => (state as { index?: number } | null)?.index
