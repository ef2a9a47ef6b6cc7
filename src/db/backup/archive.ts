// The file of a backup: a tar, compressed by Zstandard, encrypted by a passphrase in the format of age. The standard
// tools open it: age -d FILE | zstd -d | tar -x
//
// It begins with our own files, in a folder of their own; the files of PostgreSQL follow.
import { createReadStream, createWriteStream } from 'node:fs'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { ReadableStream } from 'node:stream/web'
import { createZstdCompress, createZstdDecompress } from 'node:zlib'
import { Decrypter, Encrypter } from 'age-encryption'
import { extract, Header } from 'tar'
import { messageOf, OperatorError } from '../../errors.ts'
import type { RunAs } from '../cluster.ts'
import { decryptWith, encryptWith } from './passphrase.ts'

/** Where our own files are in it. */
export const OWN_FOLDER = 'offerdeck'

export type OwnFile = { name: string; content: Buffer }

/** It is on disk when this is done. What fails leaves a part of it. */
export async function writeArchive(
  file: string,
  passphrase: string,
  own: readonly OwnFile[],
  database: Readable,
): Promise<void> {
  const encrypter = new Encrypter()
  encrypter.addRecipient(encryptWith(passphrase))
  const compressed = createZstdCompress()
  try {
    const compressing = pipeline(Readable.from(tarOf(own, database)), compressed)
    const encrypted = await encrypter.encrypt(Readable.toWeb(compressed) as ReadableStream<Uint8Array>)
    const target = createWriteStream(file, { mode: 0o600, flush: true })
    await Promise.all([compressing, pipeline(Readable.fromWeb(encrypted), target)])
  } catch (error) {
    database.destroy()
    throw error
  }
}

async function* tarOf(own: readonly OwnFile[], database: Readable): AsyncGenerator<Buffer> {
  for (const { name, content } of own) yield tarEntry(`${OWN_FOLDER}/${name}`, content)
  yield* database
}

const BLOCK = 512

function tarEntry(path: string, content: Buffer): Buffer {
  const entry = Buffer.alloc(BLOCK + Math.ceil(content.length / BLOCK) * BLOCK)
  new Header({ path, type: 'File', mode: 0o600, size: content.length, mtime: new Date() }).encode(entry)
  content.copy(entry, BLOCK)
  return entry
}

/** Into a folder that exists, for this owner. */
export async function extractArchive(
  file: string,
  passphrase: string,
  folder: string,
  { uid, gid }: RunAs,
): Promise<void> {
  const decrypter = new Decrypter()
  decrypter.addIdentity(decryptWith(passphrase))
  const source = createReadStream(file)
  try {
    const plain = await decrypter.decrypt(Readable.toWeb(source) as ReadableStream<Uint8Array>)
    const owner = uid === undefined || gid === undefined ? {} : { uid, gid }
    const unpacking = extract({
      cwd: folder,
      strict: true,
      filter: (_path, entry) => 'type' in entry && (entry.type === 'File' || entry.type === 'Directory'),
      ...owner,
    })
    await pipeline(Readable.fromWeb(plain), createZstdDecompress(), unpacking)
  } catch (error) {
    source.destroy()
    throw explained(error, file)
  }
}

function explained(error: unknown, file: string): unknown {
  const message = messageOf(error)
  if ((error as NodeJS.ErrnoException).code === 'ENOENT' && message.includes(file))
    return new OperatorError(`There is no file ${file}.`)
  if (message.includes('no identity matched')) return new OperatorError(`The passphrase does not open ${file}.`)
  if ((error as NodeJS.ErrnoException).code === 'ENOSPC') return new OperatorError('The disk is full.')
  return new OperatorError(`${file} is damaged, or is not a backup (${message}).`)
}
