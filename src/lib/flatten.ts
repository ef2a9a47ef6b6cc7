let scratch = Buffer.alloc(16_384)

/**
 * The same latin1 text in one piece of memory. Text put together from parts keeps all its parts, three times the size,
 * until something needs it whole; text that is kept for long should not.
 */
export function flatten(text: string): string {
  if (text.length > scratch.length) scratch = Buffer.alloc(text.length)
  return scratch.toString('latin1', 0, scratch.write(text, 'latin1'))
}
