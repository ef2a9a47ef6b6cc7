import { Code } from '@mantine/core'

/** A sentence in which `code` stands between backticks. */
export function Words({ text }: { text: string }) {
  return text.split('`').map((part, i) => (i % 2 === 0 ? part : <Code key={i}>{part}</Code>))
}
