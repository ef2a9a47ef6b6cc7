// <offer-wall api-key="…" user-id="…">: a wall as a part of the page.
import { WallFrame } from './wall.ts'

const ATTRIBUTES = { 'api-key': 'apiKey', 'user-id': 'userId', exp: 'exp', sig: 'sig', 'aff-sub': 'aff_sub', 'aff-sub2': 'aff_sub2', 'aff-sub3': 'aff_sub3', 'aff-sub4': 'aff_sub4', country: 'country', platform: 'platform', category: 'category', sort: 'sort', theme: 'theme', lang: 'lang', title: 'title' } as const // prettier-ignore
const EVENTS: Offerdeck.WallEvent[] = ['ready', 'opened', 'offer-started', 'credited', 'closed', 'error']

export function defineElement(origin: string): void {
  if (customElements.get('offer-wall') !== undefined) return
  customElements.define(
    'offer-wall',
    class extends HTMLElement {
      static readonly observedAttributes = Object.keys(ATTRIBUTES)
      /** Set by the page, perhaps before this class is there: a field of it would replace that one. */
      declare renew?: Offerdeck.Renew
      #wall: WallFrame | null = null
      #isDue = false

      connectedCallback(): void {
        this.#showSoon()
      }

      disconnectedCallback(): void {
        this.#close()
      }

      attributeChangedCallback(_name: string, before: string | null, after: string | null): void {
        if (before !== after && this.isConnected) this.#showSoon()
      }

      /** Once for all attributes that are set in a row, which those of markup are, too. */
      #showSoon(): void {
        if (this.#isDue) return
        this.#isDue = true
        queueMicrotask(() => {
          this.#isDue = false
          this.#close()
          if (this.isConnected) this.#show()
        })
      }

      #close(): void {
        this.#wall?.close()
        this.#wall = null
      }

      #show(): void {
        const options = Object.fromEntries(
          Object.entries(ATTRIBUTES).map(([name, option]) => [option, this.getAttribute(name) ?? undefined]),
        ) as unknown as Offerdeck.WallOptions
        if (!options.apiKey || !options.userId) return // shown once they are there
        if (this.style.display === '') this.style.display = 'block'
        if (this.style.height === '') this.style.height = '800px'
        Object.defineProperty(options, 'renew', { get: () => this.renew })
        const wall = new WallFrame(origin, options)
        for (const event of EVENTS) wall.on(event, (detail) => this.dispatchEvent(new CustomEvent(event, { detail })))
        this.#wall = wall
        wall.showIn(this)
        wall.emit('opened', {})
      }
    },
  )
}
