// Texts without credentials, in every form in which a request may have sent them: an upstream may echo any of them.

const SHORTEST_MASKED = 4
const MASK = '•••'

export class CredentialMask {
  readonly #spellings = new Set<string>()
  #pattern: RegExp | null = null

  constructor(credentials: Readonly<Record<string, string>>) {
    for (const value of Object.values(credentials)) this.add(value)
  }

  /** Also what is derived from credentials and lets in as they do: a token, a pair, a signature. */
  add(value: string): void {
    if (value.length < SHORTEST_MASKED) return
    const before = this.#spellings.size
    for (const one of spellingsOf(value.toWellFormed())) this.#spellings.add(one)
    if (this.#spellings.size > before) this.#pattern = null
  }

  /** Mask first, then cut: a part of a credential is not found. */
  text(text: string): string {
    if (this.#spellings.size === 0) return text
    const longestFirst = () => [...this.#spellings].toSorted((a, b) => b.length - a.length)
    this.#pattern ??= new RegExp(longestFirst().map(escapePattern).join('|'), 'g')
    return text.replaceAll(this.#pattern, MASK)
  }

  /** What JSON can hold; `isOurs`: we gave the names and numbers in it, so they stay. */
  deep(value: unknown, isOurs = false): unknown {
    if (typeof value === 'string') return this.text(value)
    if (typeof value === 'number') return !isOurs && this.#spellings.has(String(value)) ? MASK : value
    if (Array.isArray(value)) return value.map((one) => this.deep(one, isOurs))
    if (typeof value !== 'object' || value === null) return value
    return Object.fromEntries(Object.entries(value).map(([name, one]) => [isOurs ? name : this.text(name), this.deep(one, isOurs)])) // prettier-ignore
  }
}

function spellingsOf(value: string): string[] {
  const inQuery = new URLSearchParams({ v: value }).toString().slice(2)
  const encoded = [encodeURIComponent(value), inQuery].flatMap((one) => [one, one.replaceAll(/%../g, (hex) => hex.toLowerCase())]) // prettier-ignore
  const inJson = JSON.stringify(value).slice(1, -1)
  const bytes = Buffer.from(value)
  const packed = [bytes.toString('base64'), bytes.toString('base64url')]
  return [value, ...encoded, inJson, inJson.replaceAll('/', '\\/'), value.replaceAll('&', '&amp;'), ...packed, encodeURIComponent(packed[0] ?? '')] // prettier-ignore
}

const escapePattern = (text: string) => text.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`)
