// Words that must not appear in the name or description of an offer. They are compared as whole words, whatever the
// case: "art" is in "Art & craft" and not in "Start". A star at the end stands for any ending: "casino*" is in "casinos".
//
// All keywords are looked for together, in one pass over the text: the cost does not grow with their number.

/** The characters that may follow, and whether a keyword ends here: as a word, or with any ending. */
type Node = { next: Map<number, Node>; isWord: boolean; isStart: boolean }

const SPACE = 32
const IN_WORDS = /[\p{L}\p{N}\p{M}_]/u
// Written without spaces between words, so there any character can begin or end one.
const UNSPACED =
  /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Thai}\p{sc=Lao}\p{sc=Khmer}\p{sc=Myanmar}\p{sc=Tibetan}]/u
const [UNKNOWN, YES, NO] = [0, 1, 2]
const joins = new Uint8Array(0x1_0000)

/** Text as keywords are compared to it. */
export const foldText = (text: string) => text.normalize('NFKC').toLowerCase()

export class Keywords {
  readonly #root = newNode()

  constructor(keywords: readonly string[]) {
    for (const keyword of keywords) this.#add(foldText(keyword).trim().replaceAll(/\s+/g, ' '))
  }

  get isEmpty(): boolean {
    return this.#root.next.size === 0
  }

  /** Whether any of them is in the text, which is folded. */
  appearIn(text: string): boolean {
    let isInside = false
    for (let at = 0; at < text.length; at++) {
      const code = text.charCodeAt(at)
      const wasInside = isInside
      isInside = joinsWords(code)
      if (wasInside && isInside) continue
      const node = this.#root.next.get(code)
      if (node !== undefined && matchesFrom(node, text, at + 1)) return true
    }
    return false
  }

  #add(keyword: string): void {
    const isStart = keyword.endsWith('*')
    const word = isStart ? keyword.slice(0, -1) : keyword
    if (word === '') return
    let node = this.#root
    for (let at = 0; at < word.length; at++) {
      const code = word.charCodeAt(at)
      const next = node.next.get(code) ?? newNode()
      node.next.set(code, next)
      node = next
    }
    node.isWord = true
    node.isStart ||= isStart
  }
}

const newNode = (): Node => ({ next: new Map(), isWord: false, isStart: false })

/** Whether a keyword goes on from `at` as the text does, to its end. */
function matchesFrom(start: Node, text: string, at: number): boolean {
  let node: Node | undefined = start
  for (; node !== undefined; at++) {
    if (node.isStart || (node.isWord && isBoundary(text, at))) return true
    if (at >= text.length) return false
    let code = text.charCodeAt(at)
    if (isSpace(code)) {
      code = SPACE
      while (isSpace(text.charCodeAt(at + 1))) at++
    }
    node = node.next.get(code)
  }
  return false
}

const isBoundary = (text: string, at: number) =>
  at >= text.length || !joinsWords(text.charCodeAt(at - 1)) || !joinsWords(text.charCodeAt(at))

const isSpace = (code: number) => code === SPACE || (code >= 9 && code <= 13)

/** Whether two such characters side by side belong to one word. Halves of astral characters do not. */
function joinsWords(code: number): boolean {
  if (joins[code] === UNKNOWN) {
    const character = String.fromCharCode(code)
    joins[code] = IN_WORDS.test(character) && !UNSPACED.test(character) ? YES : NO
  }
  return joins[code] === YES
}
