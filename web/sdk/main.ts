// The SDK: Offerdeck.open() shows a wall over the page, in an element of it, or in a tab.
import { defineElement } from './element.ts'
import { showModal } from './modal.ts'
import { WallFrame } from './wall.ts'

/** Where this script came from is where walls come from. */
const origin = new URL((document.currentScript as HTMLScriptElement).src).origin

const MODES = ['modal', 'inline', 'tab']

function open(options: Offerdeck.OpenOptions): Offerdeck.Wall {
  const { mode = 'modal', target, closeLabel = 'Close' } = options ?? {}
  for (const name of ['apiKey', 'userId'] as const)
    if (typeof options?.[name] !== 'string' || options[name] === '')
      throw new TypeError(`Offerdeck.open needs ${name}, as text.`)
  if (!MODES.includes(mode)) throw new TypeError(`Offerdeck.open knows the modes ${MODES.join(', ')}.`)
  const place = typeof target === 'string' ? document.querySelector(target) : target
  if (mode === 'inline' && !(place instanceof Element))
    throw new TypeError('Offerdeck.open needs a target that is on the page.')
  const wall = new WallFrame(origin, options)
  if (mode === 'tab') wall.showInTab()
  else if (mode === 'inline') wall.showIn(place as Element)
  else showModal(wall, closeLabel)
  queueMicrotask(() => wall.emit('opened', {})) // after its caller has added listeners
  return {
    on(event, listener) {
      wall.on(event, listener)
      return this
    },
    off(event, listener) {
      wall.off(event, listener)
      return this
    },
    close: () => wall.close(),
  }
}

defineElement(origin)
Object.assign(window, { Offerdeck: { open } satisfies typeof Offerdeck })
