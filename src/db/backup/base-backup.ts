// The whole database as one tar, taken while it is in use: PostgreSQL's own base backup, with the part of its log that
// makes it consistent.
import { randomBytes } from 'node:crypto'
import { PassThrough, type Readable } from 'node:stream'
import pg from 'pg'
import { CopyQuery } from '../copy-rows.ts'

const ARCHIVE_DATA = 'd'.charCodeAt(0) // other messages begin an archive, or tell how far it is
const BACKUP = "BASE_BACKUP (LABEL 'offerdeck', CHECKPOINT 'fast', WAL true, MANIFEST 'no')"

/** `connection` is a superuser's. What goes wrong destroys the stream; destroying it ends the backup. */
export async function streamBaseBackup(connection: pg.ClientConfig): Promise<Readable> {
  const client = new pg.Client({ ...connection, replication: 'true' } as pg.ClientConfig)
  const tar = new PassThrough()
  client.on('error', (error) => tar.destroy(error))
  tar.once('close', () => void client.end().catch(() => {}))
  await client.connect()
  // Gone with the connection. Until then it keeps the log, however long the backup takes.
  await client.query(`CREATE_REPLICATION_SLOT backup_${randomBytes(6).toString('hex')} TEMPORARY PHYSICAL RESERVE_WAL`)
  const { stream } = (client as unknown as { connection: { stream: { pause(): void; resume(): void } } }).connection
  const onData = (chunk: Buffer) => {
    if (chunk[0] !== ARCHIVE_DATA || tar.destroyed) return
    if (!tar.write(Buffer.from(chunk.subarray(1)))) stream.pause() // a copy: the chunk is overwritten
  }
  tar.on('drain', () => stream.resume())
  client.query(new CopyQuery(BACKUP, onData, (error) => (error ? tar.destroy(error) : tar.end())))
  return tar
}
