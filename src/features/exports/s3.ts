// S3-compatible storage as target. An object is put whole, and the storage checks it against its hash.
import { hash } from 'node:crypto'
import { AwsClient } from 'aws4fetch'
import { percentEncode } from '../../lib/percent-encode.ts'
import type { Target } from './target.ts'

/** For one request, with its whole body. */
const PATIENCE_MS = 60_000

export type S3Options = {
  bucket: string
  /** Without slashes around it. */
  prefix: string
  /** Null: Amazon's own, of the region. */
  endpoint: string | null
  region: string
  accessKeyId: string
  secretAccessKey: string
}

export function createS3Target(options: S3Options, patienceMs = PATIENCE_MS): Target {
  const { bucket, prefix, endpoint, region, accessKeyId, secretAccessKey } = options
  const client = new AwsClient({ accessKeyId, secretAccessKey, region, service: 's3' })
  const base = `${endpoint ?? `https://s3.${region}.amazonaws.com`}/${bucket}`
  const closed = new AbortController()

  async function send(method: 'HEAD' | 'PUT', path: string, body?: Buffer): Promise<Response> {
    const key = [...prefix.split('/'), ...path.split('/')].filter((part) => part !== '').map(percentEncode)
    // Signed here and sent once: what failed is sent again with the next run.
    const { url, headers } = await client.sign(`${base}/${key.join('/')}`, {
      method,
      headers: { 'x-amz-content-sha256': hash('sha256', body ?? '') },
    })
    const signal = AbortSignal.any([closed.signal, AbortSignal.timeout(patienceMs)])
    const sent = body === undefined ? {} : { body: new Uint8Array(body) }
    return fetch(url, { method, headers, signal, redirect: 'manual', ...sent })
  }

  return {
    url: `s3://${[bucket, prefix].filter((part) => part !== '').join('/')}${endpoint === null ? '' : ` at ${endpoint}`}`,
    async sizeOf(path) {
      const response = await send('HEAD', path)
      if (response.status === 404) return null
      await refuse(response)
      return Number(response.headers.get('content-length'))
    },
    async put(path, content) {
      await refuse(await send('PUT', path, content))
    },
    close: () => closed.abort(new Error('the worker is stopping')),
  }
}

/** Throws what the storage says is wrong; the answer to HEAD says it by its status alone. */
async function refuse(response: Response): Promise<void> {
  const text = await response.text()
  if (response.ok) return
  const part = (name: string) => new RegExp(`<${name}>([^<]*)</${name}>`).exec(text)?.[1]
  const said = [part('Code'), part('Message')].filter((one) => one !== undefined).join(': ')
  throw new Error(`the storage answered ${response.status}${said === '' ? '' : ` (${said.slice(0, 200)})`}`)
}
