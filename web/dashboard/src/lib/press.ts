// A press of the pointer becomes a click only if what is under it stays there until the release. What would replace the
// rows of a list, such as a filter that takes effect, waits for that.
let isPressed = false
let waiting: (() => void)[] = []

/** To be called once, at the start. */
export function watchPresses(): void {
  const onRelease = () => {
    isPressed = false
    // The click comes right after the release.
    setTimeout(() => {
      const works = waiting
      waiting = []
      for (const work of works) work()
    })
  }
  window.addEventListener('pointerdown', () => (isPressed = true), { capture: true })
  window.addEventListener('pointerup', onRelease, { capture: true })
  window.addEventListener('pointercancel', onRelease, { capture: true })
}

/** At once, or after the click that has begun. */
export function afterPress(work: () => void): void {
  if (isPressed) waiting.push(work)
  else work()
}
