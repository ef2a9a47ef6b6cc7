// A file that an operator replaces now and then, kept in memory: read at the start, and again whenever it changes.
//
// At the start it must be valid. Later, a missing or broken file only logs a warning: the content read last stays in
// force until the file is valid again.
import { readFile, stat } from 'node:fs/promises'
import type { FastifyBaseLogger } from 'fastify'
import { messageOf, OperatorError } from '../../errors.ts'
import { inTurn } from '../../lib/in-turn.ts'

const LOOK_MS = 60_000

export type Log = Pick<FastifyBaseLogger, 'info' | 'warn'>

export type WatchedFile<T> = {
  readonly value: T
  /** Looks now whether the file has changed. It does so by itself every minute. */
  refresh: () => Promise<void>
  close: () => void
}

export type FileOptions<T> = {
  file: string
  /** The setting that names the file. */
  setting: string
  /** What an operator can do about a file that is not good, as a sentence. */
  advice: string
  /** Throws a sentence without its full stop when the content is not good. */
  parse: (content: Buffer) => T
  log: Log
}

export async function watchFile<T>({ file, setting, advice, parse, log }: FileOptions<T>): Promise<WatchedFile<T>> {
  const failure = (error: unknown) => `${setting} names ${file}, which cannot be used: ${messageOf(error)}.`
  let stamp = ''
  let value: T
  try {
    stamp = await stampOf(file)
    value = parse(await readFile(file))
  } catch (error) {
    throw new OperatorError(`${failure(error)} ${advice}`)
  }

  let complainedOf = '' // said once for each state of the file, not once a minute
  const refresh = inTurn(async () => {
    let seen = 'gone'
    try {
      seen = await stampOf(file) // before the content: what is written meanwhile is seen at the next look
      if (seen !== stamp) {
        value = parse(await readFile(file))
        stamp = seen
        log.info(`${setting} was read again: ${file} has changed.`)
      }
      complainedOf = ''
    } catch (error) {
      if (seen !== complainedOf) log.warn(`${failure(error)} What was read before stays in force. ${advice}`)
      complainedOf = seen
    }
  })
  const timer = setInterval(() => void refresh(), LOOK_MS).unref()
  return {
    get value() {
      return value
    },
    refresh,
    close: () => clearInterval(timer),
  }
}

/** Changes when the file does: a new one in its place has another inode, even within the tick of the clock. */
async function stampOf(file: string): Promise<string> {
  const { ino, size, mtimeNs } = await stat(file, { bigint: true })
  return `${ino} ${size} ${mtimeNs}`
}
