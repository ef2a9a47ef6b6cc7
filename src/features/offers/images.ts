// Uploaded images: pictures of offers and walls, and the network's logo. They are stored in the database, so every node has them, under the hash of their content:
// an image never changes, and the same image is stored once.
import { createHash } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { sql } from 'kysely'
import type { FastifyInstance } from 'fastify'
import { type Db, inTransaction, type Trx } from '../../db/open.ts'
import { AppError, badRequest } from '../../errors.ts'
import { Cache } from '../../lib/cache.ts'
import { type ImageFormat, MAX_IMAGE_BYTES, MAX_IMAGE_PIXELS, readImageFormat } from '../../lib/image-format.ts'
import { type Actor, recordAudit } from '../accounts/audit.ts'

const KEPT_BYTES = 16 * MAX_IMAGE_BYTES // in memory; twice that at times

const NAMES_MS = 1_000

const NAME = /^[0-9a-f]{32}\.(png|jpg|webp|gif)$/
export const IMAGE_TYPES = { png: 'image/png', jpg: 'image/jpeg', webp: 'image/webp', gif: 'image/gif' } as const

export type StoredImage = { path: string; type: string; width: number; height: number; bytes: number }

export async function storeImage(db: Db, by: Actor, content: Buffer): Promise<StoredImage> {
  const { extension, width, height } = checkImage(content)
  const name = `${createHash('sha256').update(content).digest('hex').slice(0, 32)}.${extension}`
  const stored = { path: `/images/${name}`, type: IMAGE_TYPES[extension], width, height, bytes: content.length }
  await inTransaction(db, async (trx) => {
    await deleteUnused(trx)
    await trx
      .insertInto('images')
      .values({ name, content })
      .onConflict((on) => on.column('name').doUpdateSet({ created_at: sql`now()` }))
      .execute()
    await recordAudit(trx, by, {
      action: 'image.upload',
      subject: name,
      details: { width, height, bytes: stored.bytes },
    })
  })
  return stored
}

/** `field`: of the request, to which a refusal belongs. */
export function checkImage(content: Buffer, field = 'content'): ImageFormat {
  const refuse = (why: string) => badRequest({ [field]: why })
  if (content.length > MAX_IMAGE_BYTES) throw refuse('An image must not be larger than 1 MB.')
  const format = readImageFormat(content)
  if (format === null) throw refuse('Use a PNG, JPEG, WebP or GIF image.')
  if (Math.min(format.width, format.height) < 1) throw refuse('This image is empty.')
  if (Math.max(format.width, format.height) > MAX_IMAGE_PIXELS)
    throw refuse(`An image must not be larger than ${MAX_IMAGE_PIXELS} pixels on each side.`)
  return format
}

/** A form may have been left without saving, or an offer have another picture by now. */
async function deleteUnused(trx: Trx): Promise<void> {
  await sql`
    DELETE FROM images WHERE created_at < now() - interval '30 days' AND NOT EXISTS (
      SELECT FROM offers WHERE image_url LIKE '%/images/%'
        AND substring(image_url FROM '/images/([0-9a-f]{32}[.][a-z]+)') = images.name)
      AND NOT EXISTS (SELECT FROM offer_proposals WHERE status = 'waiting' AND strpos(fields ->> 'image_url', images.name) > 0)
      AND NOT EXISTS (SELECT FROM network_settings WHERE logo = images.name)
      AND NOT EXISTS (SELECT FROM walls WHERE strpos(settings::text, images.name) > 0)
      AND NOT EXISTS (SELECT FROM lockers WHERE strpos(settings::text, images.name) > 0)`.execute(trx)
}

/** Refuses paths of images that are not stored, by field. The others count as new, so that none is deleted as unused meanwhile. */
export async function keepImages(trx: Trx, paths: Record<string, string | null>): Promise<void> {
  const problems: Record<string, string> = {}
  for (const [field, path] of Object.entries(paths)) {
    if (path?.startsWith('/') !== true) continue
    const { numUpdatedRows } = await trx
      .updateTable('images')
      .set({ created_at: sql`now()` })
      .where('name', '=', path.slice('/images/'.length))
      .executeTakeFirst()
    if (numUpdatedRows === 0n) problems[field] = 'There is no such image on this server. Upload it again.'
  }
  if (Object.keys(problems).length > 0) throw badRequest(problems)
}

const findImage = async (db: Db, name: string) =>
  (await db.selectFrom('images').select('content').where('name', '=', name).executeTakeFirst())?.content ?? null

/** Refuses the picture of an offer that would be one of ours, but is not stored. */
export async function requireImage(db: Db, url: string | null): Promise<void> {
  const name = url?.startsWith('/images/') === true ? url.slice('/images/'.length) : null
  if (name === null) return
  const stored = await db.selectFrom('images').select('name').where('name', '=', name).executeTakeFirst()
  if (stored === undefined) throw badRequest({ image_url: 'There is no such image on this server. Upload it again.' })
}

/** The names of all images. Requests for others share one query a second, however many come. */
class StoredNames {
  readonly #db: Db
  #names = new Set<string>()
  #readAtMs = -Infinity
  #reading: Promise<void> | null = null

  constructor(db: Db) {
    this.#db = db
  }

  async has(name: string): Promise<boolean> {
    if (!this.#names.has(name)) await (this.#reading ??= this.#read().finally(() => (this.#reading = null)))
    return this.#names.has(name)
  }

  async #read(): Promise<void> {
    const waitMs = this.#readAtMs + NAMES_MS - performance.now()
    if (waitMs > 0) await sleep(waitMs)
    const rows = await this.#db.selectFrom('images').select('name').execute()
    this.#names = new Set(rows.map(({ name }) => name))
    this.#readAtMs = performance.now()
  }
}

const notFound = () => new AppError('RESOURCE_NOT_FOUND', 'There is no such image.')

export function imageRoutes(server: FastifyInstance, db: Db): void {
  const kept = new Cache<string, Buffer>(KEPT_BYTES, ({ length }) => length)
  let turn: Promise<unknown> = Promise.resolve()
  const names = new StoredNames(db)
  /** One at a time: images take one connection to the database, however many are asked for. */
  const read = async (name: string): Promise<Buffer | null> => {
    if (!(await names.has(name))) return null
    const next = turn.then(async () => kept.get(name) ?? findImage(db, name))
    turn = next.catch(() => {}) // its caller gets the error
    return next
  }
  server.get<{ Params: { name: string } }>('/images/:name', { schema: { hide: true } }, async (request, reply) => {
    const { name } = request.params
    const [, extension] = NAME.exec(name) ?? []
    if (extension === undefined) throw notFound()
    const content = kept.get(name) ?? (await read(name))
    if (content === null) throw notFound()
    kept.set(name, content)
    return reply
      .type(IMAGE_TYPES[extension as keyof typeof IMAGE_TYPES])
      .header('Cache-Control', 'public, max-age=31536000, immutable')
      .header('X-Content-Type-Options', 'nosniff')
      .header('Content-Security-Policy', "default-src 'none'; sandbox")
      .header('Cross-Origin-Resource-Policy', 'cross-origin') // publishers show the pictures on their own sites
      .send(content)
  })
}
