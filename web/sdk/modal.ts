// A wall over the page, in a dialog of the browser's own: it keeps the focus and closes by Escape. While it is open the
// page behind does not scroll, and Back closes the wall instead of leaving the page.
//
// However many walls are open, the history has one entry for them, and Back closes the latest. `history.back()` takes
// effect later: until then no entry is added, because Back would remove that one.
import type { WallFrame } from './wall.ts'

const MARK = `offerdeck-${Math.random()}`
/** The latest last. */
const shown: WallFrame[] = []
let scroll = ''
let isLeaving = false

const hasEntry = () => (history.state as { offerdeck?: string } | null)?.offerdeck === MARK

function keepEntry(): void {
  if (isLeaving || hasEntry() === shown.length > 0) return
  if (shown.length > 0) return history.pushState({ ...(history.state as object | null), offerdeck: MARK }, '')
  isLeaving = true
  history.back()
}

addEventListener('popstate', () => {
  if (!isLeaving && !hasEntry()) shown.at(-1)?.close()
  isLeaving = false
  keepEntry()
})

// The button is above the wall, not on it: what it would cover depends on the width and the language of the wall.
const STYLE = `dialog{position:fixed;inset:0;display:flex;flex-direction:column;width:min(960px,100vw);height:min(900px,100dvh);max-width:none;max-height:none;margin:auto;padding:0;border:0;border-radius:12px;overflow:hidden;background:#222}
dialog::backdrop{background:rgb(0 0 0 / 60%)}
button{flex:none;align-self:flex-end;width:48px;height:44px;border:0;background:none;color:#fff;font:24px/1 sans-serif;cursor:pointer}
button:focus-visible{outline:3px solid #fff;outline-offset:-6px}
iframe{flex:1;min-height:0;background:Canvas}
@media (max-width:600px){dialog{width:100vw;height:100dvh;border-radius:0}}`

export function showModal(wall: WallFrame, closeLabel: string): void {
  const host = document.createElement('div')
  const root = host.attachShadow({ mode: 'open' })
  const style = new CSSStyleSheet() // allowed where a policy forbids inline styles
  style.replaceSync(STYLE)
  root.adoptedStyleSheets = [style]
  const dialog = document.createElement('dialog')
  dialog.setAttribute('aria-label', wall.element.title)
  const button = document.createElement('button')
  button.type = 'button'
  button.textContent = '×'
  button.setAttribute('aria-label', closeLabel)
  button.addEventListener('click', () => wall.close())
  wall.onEscape = () => wall.close()
  dialog.append(button)
  wall.showIn(dialog)
  root.append(dialog)
  const page = document.documentElement
  ;(document.body ?? page).append(host)

  if (shown.length === 0) {
    scroll = page.style.overflow
    page.style.overflow = 'hidden'
  }
  shown.push(wall)
  keepEntry()
  dialog.addEventListener('cancel', () => wall.close())
  dialog.addEventListener('click', ({ target }) => target === dialog && wall.close())
  wall.on('closed', () => {
    shown.splice(shown.indexOf(wall), 1)
    if (shown.length === 0) page.style.overflow = scroll
    dialog.close() // gives the focus back to where it was
    host.remove()
    keepEntry()
  })
  dialog.showModal()
  wall.element.focus()
}
