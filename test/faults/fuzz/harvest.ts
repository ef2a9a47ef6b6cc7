// What the server has said, by the name it said it under: cursors, versions, links, IDs. A request that takes such a
// value is sent one that the server knows.

const KEPT = 30

/** What a parameter takes is often said under another name. */
const SAID_AS: Record<string, string> = { cursor: 'next_cursor', after: 'next_cursor', seen_version: 'version', import_id: 'import_id' } // prettier-ignore

export class Harvest {
  readonly #values = new Map<string, (string | number)[]>()

  take(name: string): readonly (string | number)[] {
    return this.#values.get(SAID_AS[name] ?? name) ?? []
  }

  add(value: unknown, name = '', depth = 0): void {
    if (depth > 8) return
    if (Array.isArray(value)) for (const one of value.slice(0, 3)) this.add(one, name, depth + 1)
    else if (typeof value === 'object' && value !== null)
      for (const [key, one] of Object.entries(value)) this.add(one, key, depth + 1)
    else if ((typeof value === 'string' && value !== '' && value.length < 2_000) || typeof value === 'number')
      this.#keep(name, value)
  }

  #keep(name: string, value: string | number): void {
    const values = this.#values.get(name) ?? []
    this.#values.set(name, values)
    if (values.includes(value)) return
    values.push(value)
    if (values.length > KEPT) values.shift()
  }
}
