/** A quick hash of a text and a number, for comparing versions; not for secrets. 64 bits in two independent halves. */
export function hashText(text: string, seed = 0): string {
  const [a, b] = halves(text, seed)
  return a.toString(36) + b.toString(36)
}

/** The same as a whole number of 53 bits. */
export function hashNumber(text: string, seed = 0): number {
  const [a, b] = halves(text, seed)
  return a * 0x20_0000 + (b >>> 11)
}

function halves(text: string, seed: number): [number, number] {
  let a = 0xdead_beef ^ seed
  let b = 0x41c6_ce57 ^ Math.imul(seed, 0x9e37_79b1)
  for (let i = 0; i < text.length; i++) {
    const c = text.charCodeAt(i)
    a = Math.imul(a ^ c, 0x9e37_79b1)
    b = Math.imul(b ^ c, 0x5f35_6495)
  }
  a = Math.imul(a ^ (a >>> 16), 0x85eb_ca6b) ^ Math.imul(b ^ (b >>> 13), 0xc2b2_ae35)
  b = Math.imul(b ^ (b >>> 16), 0x85eb_ca6b) ^ Math.imul(a ^ (a >>> 13), 0xc2b2_ae35)
  return [a >>> 0, b >>> 0]
}
