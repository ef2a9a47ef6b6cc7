// The shell blocks of a document, and what it shows as their output.
//
// A block of `sh` is run. A block of `text` or `json` right after it is what it prints. A comment before a block says
// more: `<!-- not run: why -->` leaves it out, `<!-- in the background -->` leaves it running until the document ends,
// `<!-- while the server is stopped -->` stops the server before it and starts it after it, and `<!-- printed there -->`
// before an output is what the command in the background has printed by then.

export type Block = {
  line: number
  script: string
  /** Why it is not run; null: it is. */
  notRun: string | null
  isBackground: boolean
  needsStop: boolean
  /** What is shown as its output; null: nothing is. */
  output: string | null
}

export type Step = Block | { line: number; printedThere: string }

const FENCE = /^(?:<!-- (?<note>.*?) -->\n)?```(?<language>\w*)\n(?<text>[^]*?)\n```$/gm

export function readSteps(document: string): Step[] {
  const steps: Step[] = []
  let last: { block: Block; end: number } | null = null
  for (const match of document.matchAll(FENCE)) {
    const { note = '', language = '', text = '' } = match.groups ?? {}
    const line = document.slice(0, match.index).split('\n').length
    const isNext = last !== null && document.slice(last.end, match.index).trim() === ''
    if (language === 'sh') {
      const block: Block = {
        line,
        script: text,
        notRun: /^not run: (.+)$/.exec(note)?.[1] ?? null,
        isBackground: note === 'in the background',
        needsStop: note === 'while the server is stopped',
        output: null,
      }
      steps.push(block)
      last = { block, end: match.index + match[0].length }
    } else if (note === 'printed there') steps.push({ line, printedThere: text })
    else if (last !== null && isNext && ['text', 'json'].includes(language)) last.block.output = text
  }
  return steps
}

/** The lines of blocks that name no language: a command among them is not run. */
export const withoutLanguage = (document: string): number[] =>
  [...document.matchAll(FENCE)]
    .filter(({ groups }) => groups?.['language'] === '')
    .map(({ index }) => document.slice(0, index).split('\n').length)

/** What differs from run to run, as a word that says what it is. */
const VOLATILE: [RegExp, string][] = [
  [/\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/g, 'UUID'],
  [/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ/g, 'TIME'],
  [/\d{4}-\d\d-\d\d\b/g, 'DAY'],
  [/\breq_\w+/g, 'REQUEST'],
  [/\b((?:pk|sk)_(?:live|test)_|adv_|whsec_)[\w+/=…]+/g, '$1KEY'],
  [/v1,[\w+/=…]+/g, 'SIGNATURE'],
  [/\b(?:[0-9a-f]{64}|[0-9a-f]{32})\b/g, 'HEX'],
  [/(\/c\/\d+\/)[^\s"]+/g, '$1TOKEN'],
  [/\b17\d{8}\b|\b18\d{8}\b/g, 'SECONDS'],
  [/"[\w-]{20,}=*"/g, '"CURSOR"'],
  [/https:\/\/offers\.example\.com|http:\/\/127\.0\.0\.1:(?:8080)/g, 'URL'],
]

export function normalise(text: string): string {
  let plain = text
  for (const [form, word] of VOLATILE) plain = plain.replaceAll(form, word)
  return plain
    .split('\n')
    .map((line) => line.replaceAll(/ {2,}/g, '  ').trimEnd())
    .join('\n')
    .trim()
}

/** Whether a document shows what was printed. `…` stands for the rest of a line; alone on a line, for some lines. */
export function isShown(shown: string, printed: string): boolean {
  const pattern = normalise(shown)
    .split('\n')
    .map((line) =>
      line.trim() === '…'
        ? '[^]*?'
        : line
            .split('…')
            .map((part) => RegExp.escape(part))
            .join('[^\\n]*'),
    )
    .join('\\n')
    .replaceAll('[^]*?\\n', '(?:[^]*?\\n)?')
    .replace(/\\n\[\^\]\*\?$/, '(?:\\n[^]*)?')
  return new RegExp(`^${pattern}$`).test(normalise(printed))
}

/** The IDs that a command printed, by name: of the first row of a table, the first of JSON. */
export function* readIds(printed: string): Generator<[name: string, id: string]> {
  for (const [, name = '', id = ''] of printed.matchAll(/"(\w+_id)": ?"?([\w-]+)/g)) yield [name, id]
  const lines = printed.split('\n')
  for (const [i, header] of lines.entries()) {
    if (!/^\w+_id\b/.test(header)) continue
    const names = header.split(/ {2,}/)
    if (names.length === 1) continue
    const cells = (lines[i + 1] ?? '').split(/ {2,}/)
    for (const [j, name] of names.entries()) if (name.endsWith('_id')) yield [name, cells[j] ?? '']
  }
}
