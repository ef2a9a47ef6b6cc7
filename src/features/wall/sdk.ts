// The SDK as files: /sdk/v1.js, which follows upgrades, with its types, and one name for each version, whose content never
// changes.
//
// The dashboard shows the latter with its integrity hash. From then on it is stored in the database, because a page that
// has it must still find it when this server runs a later version.
import { createHash } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { acceptsGzip } from '../../http/compression.ts'
import type { Db } from '../../db/open.ts'
import { AppError } from '../../errors.ts'
import { compressPart, joinGzip, type Part } from '../../lib/gzip-parts.ts'
import { projectPath } from '../../lib/project.ts'

const FILE = projectPath('web/dist/client/sdk.js')
const TYPES_FILE = projectPath('web/dist/client/sdk.d.ts')
const SCRIPT = 'text/javascript; charset=utf-8'
const LATEST = 'v1.js'
const TYPES = 'v1.d.ts'
const NAME = /^v1-([0-9a-f]{16})\.js$/
const LOOK_MS = 10_000
const LATEST_LIFE = 'public, max-age=3600'

type Sdk = { hash: string; part: Part; integrity: string }

export type PublishedSdk = { path: string; integrity: string }

/** Null when it was not built. */
function readSdk(): Sdk | null {
  if (!existsSync(FILE)) return null
  const content = readFileSync(FILE, 'utf8')
  return {
    hash: createHash('sha256').update(content).digest('hex').slice(0, 16),
    part: compressPart(content),
    integrity: `sha384-${createHash('sha384').update(content).digest('base64')}`,
  }
}

/** The version of this server, kept from now on. Null when it was not built. */
export async function publishSdk(db: Db): Promise<PublishedSdk | null> {
  const sdk = readSdk()
  if (sdk === null) return null
  const { hash, part, integrity } = sdk
  await db
    .insertInto('sdk_versions')
    .values({ hash, content: part.text.toString() })
    .onConflict((on) => on.doNothing())
    .execute()
  return { path: `/sdk/v1-${hash}.js`, integrity }
}

export function sdkRoutes(server: FastifyInstance, db: Db): void {
  const current = readSdk()
  const types = existsSync(TYPES_FILE) ? compressPart(readFileSync(TYPES_FILE, 'utf8')) : null
  const old = new Map<string, Part>()
  let lookedAtMs = -Infinity
  /** All of them at once: they are few, and unknown names are asked for at will. */
  async function findOld(hash: string): Promise<Part | undefined> {
    if (!old.has(hash) && performance.now() - lookedAtMs > LOOK_MS) {
      lookedAtMs = performance.now()
      const rows = await db.selectFrom('sdk_versions').select(['hash', 'content']).execute()
      for (const row of rows) if (!old.has(row.hash)) old.set(row.hash, compressPart(row.content))
    }
    return old.get(hash)
  }

  server.get<{ Params: { name: string } }>('/sdk/:name', { schema: { hide: true } }, async (request, reply) => {
    const { name } = request.params
    if (name === LATEST && current !== null) return send(request, reply.type(SCRIPT), current.part, LATEST_LIFE)
    if (name === TYPES && types !== null)
      return send(request, reply.type('text/plain; charset=utf-8'), types, LATEST_LIFE)
    const [, hash = ''] = NAME.exec(name) ?? []
    const part = hash === '' ? undefined : hash === current?.hash ? current.part : await findOld(hash)
    if (part === undefined) throw new AppError('RESOURCE_NOT_FOUND', 'There is no such version of the SDK.')
    return send(request, reply.type(SCRIPT), part, 'public, max-age=31536000, immutable')
  })
}

/** Any page may load it, and check its integrity. */
function send(request: FastifyRequest, reply: FastifyReply, part: Part, cacheControl: string): FastifyReply {
  reply
    .header('Cache-Control', cacheControl)
    .header('Access-Control-Allow-Origin', '*')
    .header('Cross-Origin-Resource-Policy', 'cross-origin')
    .header('Vary', 'Accept-Encoding')
  if (!acceptsGzip(request.headers)) return reply.send(part.text)
  return reply.header('Content-Encoding', 'gzip').send(Buffer.from(joinGzip([part]), 'latin1'))
}
