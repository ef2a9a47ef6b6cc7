// Where exports go. A file appears under its name at once and complete, or not at all.
export type Target = {
  /** What its positions are kept under, without secrets. */
  readonly url: string
  /** In bytes; null: there is no such file. */
  sizeOf(path: string): Promise<number | null>
  put(path: string, content: Buffer): Promise<void>
  /** Ends what is under way: it fails. */
  close(): void
}
