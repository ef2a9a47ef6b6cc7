// Text that a command writes to a file, or prints.
import { open, rename, rm } from 'node:fs/promises'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { messageOf, OperatorError } from '../errors.ts'
import { terminal } from './terminal.ts'

export async function writeOut(text: AsyncIterable<string>, file: string | undefined): Promise<void> {
  if (file === undefined) await pipeline(Readable.from(text), terminal().out, { end: false })
  else await writeWhole(file, text)
}

/** Half a file must not look like a whole one, so the file gets its name at the end. */
async function writeWhole(file: string, text: AsyncIterable<string>): Promise<void> {
  const part = `${file}.part`
  const handle = await open(part, 'w').catch((error: unknown) => {
    throw new OperatorError(`Cannot write ${file}: ${messageOf(error)}`)
  })
  try {
    await handle.writeFile(text)
    await handle.close()
    await rename(part, file)
  } catch (error) {
    await handle.close().catch(() => {})
    await rm(part, { force: true })
    throw error
  }
}
