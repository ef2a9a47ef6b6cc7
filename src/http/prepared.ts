// Large answers that stay the same until the process ends: written and compressed once, at the first request.
import { createHash } from 'node:crypto'
import { promisify } from 'node:util'
import { constants, gzip } from 'node:zlib'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { acceptsGzip } from './compression.ts'
import { isFresh } from './etag.ts'

type Prepared = { text: string; packed: Buffer; etag: string }

export class PreparedAnswer {
  readonly #type: string
  readonly #cacheControl: string
  readonly #write: () => string | Promise<string>
  #prepared: Promise<Prepared> | null = null

  constructor(type: string, cacheControl: string, write: () => string | Promise<string>) {
    this.#type = type
    this.#cacheControl = cacheControl
    this.#write = write
  }

  async send(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    this.#prepared ??= this.#prepare().catch((error: unknown) => {
      this.#prepared = null // the next request retries
      throw error
    })
    const { text, packed, etag } = await this.#prepared
    reply.header('Cache-Control', this.#cacheControl).header('Vary', 'Accept-Encoding').header('ETag', etag)
    if (isFresh(request.headers['if-none-match'], etag)) return reply.code(304).send()
    reply.type(this.#type)
    if (!acceptsGzip(request.headers)) return reply.send(text)
    return reply.header('Content-Encoding', 'gzip').send(packed)
  }

  async #prepare(): Promise<Prepared> {
    const text = await this.#write()
    const packed = await promisify(gzip)(text, { level: constants.Z_BEST_COMPRESSION })
    // Weak: it is the same for both codings.
    return { text, packed, etag: `W/"${createHash('sha256').update(text).digest('base64url').slice(0, 22)}"` }
  }
}
