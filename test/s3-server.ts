// S3-compatible storage for tests: checks each signature and the hash of each body as the specification of AWS Signature
// Version 4 says, keeps objects in memory, and fails in the ways in which storage does.
import { createHash, createHmac } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

export const S3_KEYS = { accessKeyId: 'AKIATEST', secretAccessKey: 'a secret of the storage' }

const hex = (data: string | Buffer) => createHash('sha256').update(data).digest('hex')
const hmac = (key: string | Buffer, text: string) => createHmac('sha256', key).update(text).digest()
const errorText = (code: string, message: string) => `<?xml version="1.0"?><Error><Code>${code}</Code><Message>${message}</Message></Error>` // prettier-ignore

export type Mood = 'works' | 'unavailable' | 'cut' | 'silent'

export class S3Server {
  /** By bucket and key. */
  readonly objects = new Map<string, Buffer>()
  mood: Mood = 'works'
  /** Requests by what became of them. */
  readonly answers: string[] = []
  readonly #server = createServer((request, response) => {
    const parts: Buffer[] = []
    request.on('data', (part: Buffer) => parts.push(part)).on('error', () => {})
    request.on('end', () => this.#answer(request, response, Buffer.concat(parts)))
  })

  async open(): Promise<void> {
    await new Promise<void>((done) => this.#server.listen(0, '127.0.0.1', done))
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`
  }

  #answer(request: IncomingMessage, response: ServerResponse, body: Buffer): void {
    const say = (status: number, code = '', message = '') => {
      this.answers.push(`${request.method} ${status} ${code}`.trim())
      response.writeHead(status).end(code === '' || request.method === 'HEAD' ? '' : errorText(code, message))
    }
    if (this.mood === 'cut') return void request.socket.destroy()
    if (this.mood === 'silent') return void this.answers.push('silence')
    if (this.mood === 'unavailable') return say(503, 'SlowDown', 'Please reduce your request rate.')
    const problem = this.#problemOf(request, body)
    if (problem !== null) return say(403, problem, 'The request was refused.')
    const key = decodeURIComponent(new URL(request.url ?? '', this.url).pathname).slice(1)
    if (request.method === 'PUT') this.objects.set(key, body)
    const object = this.objects.get(key)
    if (object === undefined) return say(404, 'NoSuchKey', 'The specified key does not exist.')
    response.setHeader('content-length', request.method === 'HEAD' ? object.length : 0)
    say(200)
  }

  #problemOf({ method, url = '', headers }: IncomingMessage, body: Buffer): string | null {
    const [, keyId = '', scope = '', names = '', given] =
      /^AWS4-HMAC-SHA256 Credential=([^/]+)\/([^,]+), SignedHeaders=([^,]+), Signature=(\w+)$/.exec(headers.authorization ?? '') ?? [] // prettier-ignore
    if (keyId !== S3_KEYS.accessKeyId) return 'InvalidAccessKeyId'
    const bodyHash = String(headers['x-amz-content-sha256'])
    if (bodyHash !== hex(body)) return 'XAmzContentSHA256Mismatch'
    const { pathname } = new URL(url, this.url)
    const canonical = [
      method,
      pathname,
      '',
      ...names.split(';').map((name) => `${name}:${String(headers[name])}`),
      '',
      names,
      bodyHash,
    ].join('\n')
    const [day = '', region = '', service = ''] = scope.split('/')
    const toSign = ['AWS4-HMAC-SHA256', String(headers['x-amz-date']), scope, hex(canonical)].join('\n')
    const key = hmac(hmac(hmac(hmac(`AWS4${S3_KEYS.secretAccessKey}`, day), region), service), 'aws4_request')
    return hmac(key, toSign).toString('hex') === given ? null : 'SignatureDoesNotMatch'
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections()
    await new Promise((done) => this.#server.close(done))
  }
}
