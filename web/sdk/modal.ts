// A wall over the page, in a dialog of the browser's own: it keeps the focus and closes by Escape. While it is open the
// page behind does not scroll, and Back closes the wall instead of leaving the page.
import type { WallFrame } from './wall.ts'

const STYLE = `dialog{position:fixed;inset:0;width:min(960px,100vw);height:min(860px,100dvh);max-width:none;max-height:none;margin:auto;padding:0;border:0;border-radius:12px;overflow:hidden;background:Canvas}
dialog::backdrop{background:rgb(0 0 0 / 60%)}
button{position:absolute;top:8px;inset-inline-end:8px;width:40px;height:40px;border:0;border-radius:50%;background:rgb(0 0 0 / 55%);color:#fff;font:24px/1 sans-serif;cursor:pointer}
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
  dialog.append(wall.element, button)
  root.append(dialog)
  document.body.append(host)

  const scroll = document.documentElement.style.overflow
  const mark = `offerdeck-${Math.random()}`
  const onBack = () => wall.close()
  const hasMark = () => (history.state as { offerdeck?: string } | null)?.offerdeck === mark
  history.pushState({ ...(history.state as object | null), offerdeck: mark }, '')
  addEventListener('popstate', onBack)
  document.documentElement.style.overflow = 'hidden'
  dialog.addEventListener('cancel', () => wall.close())
  dialog.addEventListener('click', ({ target }) => target === dialog && wall.close())
  wall.on('closed', () => {
    removeEventListener('popstate', onBack)
    document.documentElement.style.overflow = scroll
    dialog.close() // gives the focus back to where it was
    host.remove()
    if (hasMark()) history.back()
  })
  dialog.showModal()
}
